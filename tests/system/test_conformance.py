"""The emulator's record of a link against an independent model of it: `validation/conformance`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from harness import assert_enough
from stages import thorough_but

import dumbbell
from dumbbell.engines.names import EMULATE, VIRTUAL
from validation.conformance.capacity import Work
from validation.conformance.cases import CASES
from validation.conformance.compare import Difference, compare
from validation.conformance.link import Link
from validation.conformance.packet import Packet

SECONDS = 3
CASE = {case.name: case for case in CASES}
CHECKED = [
    "threshold, time",
    "rate in steps",
    "Mahimahi trace",
    "policer",
    "slots",
    "events",
    "random loss",
    "random marks",
    "FQ-CoDel",
    "FQ",
    "CAKE",
    "CAKE, hosts",
    "PIE",
    "RED, ECN, steep",
    "DualPI2",
]
"""Each mechanism once; the bench has more of each, and longer."""


def replayed(name: str, scratch: Path, engine: str = EMULATE) -> tuple[dumbbell.Run, Difference]:
    """Run a case; the run, and how far it is from the model."""
    run = dumbbell.run(CASE[name].scenario(SECONDS, scratch), directory=scratch, engine=engine)
    assert isinstance(run, dumbbell.Run)
    return run, compare(run.directory)


def test_work_by_hand() -> None:
    # 8 bit/s for 3 ns, nothing for 4 ns, then 3 bit/s.
    work = Work([(0, 8), (3, 0), (7, 3)])
    assert [work.at(time) for time in (0, 1, 3, 7, 8)] == [0, 8, 24, 24, 27]
    # The work that is done at 3 ns is done then, not when the link goes on; one more is done at 7 1/3 ns.
    assert [work.when(done) for done in (0, 12, 24, 25, 27)] == [0, 1, 3, 7, 8]


def test_a_link_by_hand() -> None:
    link = dict.fromkeys(
        ["variation", "slots", "policer", "jitter", "reorder", "delay_line_packets", "duplication", "corruption"]
    )
    link |= {"name": "x", "up": True, "rate_bps": 8_000_000, "delay_ns": 500, "loss_before": [], "loss_after": []}
    link |= {"buffer": {"packets": 1}, "queue": {"kind": "drop-head", "ce_threshold": None}}
    # 100 B take 100 us. The second waits, the third takes its place, and the fourth comes as the third is served.
    packets = [Packet(n, at, 100, "f1", ("h1", "h2"), "not-ect") for n, at in enumerate((0, 0, 50_000, 100_000))]
    Link([(0, link)], seed=1, end=10**9).run(packets)
    assert [packet.departure for packet in packets] == [100_000, None, 200_000, 300_000]
    assert [packet.sojourn for packet in packets] == [0, 50_000, 50_000, 100_000]
    assert [packet.fate for packet in packets] == ["delivered", "dropped-head", "delivered", "delivered"]
    assert packets[0].delivery == 100_500


@pytest.mark.parametrize("name", thorough_but(["rate in steps", "FQ-CoDel"], CHECKED))
def test_the_record_is_the_models_packet_by_packet(name: str, tmp_path: Path) -> None:
    run, found = replayed(name, tmp_path)
    assert found.equal, found
    assert_enough(run, found.packets > 1000 and set(CASE[name].expects) <= set(found.fates), found)


def test_the_comparison_sees_a_nanosecond_and_a_fate(tmp_path: Path) -> None:
    run, found = replayed("drop-tail, bytes", tmp_path, VIRTUAL)
    assert found.equal, found
    directory = run.directory
    packets = pl.read_parquet(directory / "packets.parquet").sort("packet")
    on_link = pl.col("link") == "bottleneck"
    delivered = packets.filter(on_link & (pl.col("fate") == "delivered"))["packet"][1000]
    dropped = packets.filter(on_link & (pl.col("fate") == "dropped-tail"))["packet"][10]
    tampered = packets.with_columns(
        departure_ns=pl.col("departure_ns") + (on_link & (pl.col("packet") == delivered)).cast(pl.Int64),
        fate=pl.when(on_link & (pl.col("packet") == dropped)).then(pl.lit("dropped-early")).otherwise(pl.col("fate")),
    )
    tampered.write_parquet(directory / "packets.parquet")
    found = compare(directory)
    assert (found.largest_ns, found.wrong_fates, found.wrong_marks, found.wrong_queues) == (1, 1, 0, 0)
