"""Links as Mininet makes them, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell


def scenario(bottleneck: dict[str, Any], flow: dict[str, Any], **emulate: Any) -> dict[str, Any]:
    return {
        "name": "mininet",
        "duration": "3 s",
        "topology": {"kind": "path", "rtt": "40 ms", "bottleneck": {"rate": "10 Mbit/s", **bottleneck}},
        "flows": [{"from": "h1", "to": "h2", **flow}],
        "emulate": {"links": "mininet", **emulate},
    }


def packets(asked: dict[str, Any], directory: Path) -> pl.DataFrame:
    run = dumbbell.run(asked, directory=directory, engine="virtual", report=False)
    found = pl.read_parquet(run.directory / "packets.parquet").filter(pl.col("link") == "bottleneck")
    return found.with_columns(pl.col("fate").cast(pl.String)).sort("arrival_ns")


@pytest.mark.thorough
def test_what_propagates_counts_in_the_buffer(tmp_path: Path) -> None:
    """At half of the link's rate nothing waits for it, but more packets propagate than the buffer has room for."""
    udp = {"protocol": "udp", "rate": "5 Mbit/s"}
    narrow = packets(scenario({"delay": "20 ms", "buffer": "5 packets"}, udp), tmp_path / "narrow")
    dropped = narrow.filter(pl.col("fate") == "dropped-tail")
    assert len(dropped) > 100
    assert set(dropped["queue_packets"]) == {5}
    wide = packets(scenario({"delay": "20 ms", "buffer": "50 packets"}, udp), tmp_path / "wide")
    assert set(wide["fate"]) <= {"delivered", "inside"}
    waited = wide["departure_ns"].drop_nulls() - wide.filter(pl.col("departure_ns").is_not_null())["arrival_ns"]
    assert waited.min() == pytest.approx(20e6, rel=0.001)


@pytest.mark.thorough
def test_bursts_stay_whole_unless_packets_cross_one_by_one(tmp_path: Path) -> None:
    asked = {"delay": "20 ms", "buffer": "100 packets"}
    whole = packets(scenario(asked, {"cc": "cubic"}), tmp_path / "whole")
    single = packets(scenario(asked, {"cc": "cubic"}, path="wire"), tmp_path / "single")
    # At this rate TCP makes bursts of the two segments that it makes at least, and of three while it starts.
    assert whole["size_bytes"].max() > 2 * 1514 - 66
    assert single["size_bytes"].max() == 1514
    # The limit of 100 is of bursts, so more bytes wait than 100 frames have.
    assert whole["queue_bytes"].max() > 1.2 * single["queue_bytes"].max()
    for found in (whole, single):
        delivered = found.filter(pl.col("fate") == "delivered")
        goodput = delivered["payload_bytes"].sum() * 8 / delivered["delivery_ns"].max() * 1e3
        assert 8.5 < goodput < 9.7


def test_losses_are_seen(tmp_path: Path) -> None:
    udp = {"protocol": "udp", "rate": "5 Mbit/s"}
    found = packets(scenario({"delay": "5 ms", "buffer": "100 packets", "loss": "5 %"}, udp), tmp_path)
    share = (found["fate"] == "lost-before").mean()
    # Six standard deviations.
    assert share == pytest.approx(0.05, abs=6 * (0.05 * 0.95 / len(found)) ** 0.5)


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    asked = scenario({"delay": "10 ms", "buffer": "30 packets", "loss": "1 %"}, {"cc": "reno"})
    first, second = (packets(asked, tmp_path / name) for name in ("first", "second"))
    assert first.equals(second)
