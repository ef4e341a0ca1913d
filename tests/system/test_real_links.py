"""Links of this machine's own kernel carry packets in real time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell.engines.realm import qdiscs
from dumbbell.errors import DumbbellError


def scenario(links: str, rtt: str = "0 s") -> dict[str, Any]:
    return {
        "name": "real",
        "duration": "3 s",
        "topology": {"kind": "path", "rtt": rtt, "bottleneck": {"rate": "20 Mbit/s", "buffer": "60 packets"}},
        "flows": [{"from": "h1", "to": "h2", "cc": "reno"}],
        "emulate": {"links": links},
    }


@pytest.mark.real_time
@pytest.mark.skipif(not qdiscs.has("tbf"), reason="this kernel has no tbf")
def test_tbf_alone_carries_a_link_without_a_delay(tmp_path: Path) -> None:
    run = dumbbell.run(scenario("kernel"), directory=tmp_path, engine="emulate", report=False)
    packets = pl.read_parquet(run.directory / "packets.parquet").with_columns(pl.col("fate").cast(pl.String))
    data = packets.filter(pl.col("link") == "bottleneck").sort("departure_ns")
    fates = dict(data.group_by("fate").len().iter_rows())
    assert set(fates) <= {"delivered", "dropped-tail", "inside"}
    # Slow start fills the buffer: the kernel says that it is full.
    assert fates["dropped-tail"] > 10
    full = data.filter(pl.col("fate") == "dropped-tail")["queue_packets"]
    assert full.min() >= 60
    # Once the queue is there, tbf sends at its rate, however late it was read: 5 % are other work on the machine.
    steady = data.filter(pl.col("departure_ns") > 1_000_000_000)
    took = steady["departure_ns"].max() - steady["departure_ns"].min()
    assert steady.filter(pl.col("fate") == "delivered")["size_bytes"].sum() * 8e9 / took == pytest.approx(
        20e6, rel=0.05
    )
    checks = {check["check"]: check["verdict"] for check in run.summary["checks"]}
    assert checks["conservation"] == "valid"


@pytest.mark.skipif(qdiscs.has("netem"), reason="this kernel has netem")
@pytest.mark.parametrize("links", ["kernel", "mininet"])
def test_a_missing_discipline_is_named_with_what_helps(links: str, tmp_path: Path) -> None:
    with pytest.raises(DumbbellError, match="this machine's kernel lacks netem") as caught:
        dumbbell.run(scenario(links, rtt="20 ms"), directory=tmp_path, engine="emulate", report=False)
    assert "--engine virtual" in str(caught.value)
