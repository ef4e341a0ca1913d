"""Two captures of a simulated run: together they tell what the run recorded, to the packet and the nanosecond."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_capture import ACK, HEAD, lossy, packet

import dumbbell
from benches.pcapng import Packet, as_pcap, packets
from dumbbell.captures.clocks import compare
from dumbbell.captures.detail import ASKED, Part
from dumbbell.captures.pairs import Between, between
from dumbbell.cli import invoke
from dumbbell.cli.paired import table
from dumbbell.errors import InputError
from dumbbell.report.captured.series import build
from dumbbell.report.model import Line

SENDER = ["bottleneck:in", "bottleneck-reverse:out"]
RECEIVER = ["bottleneck:out", "bottleneck-reverse:in"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    given = {
        "duration": "3 s",
        "record.capture": True,
        "topology.bottleneck.buffer": "0.5 bdp",
        "topology.bottleneck.loss": "0.5 %",
        "topology.bottleneck.reorder": {"rate": "0.2 %"},
    }
    found = dumbbell.run("bbr-vs-cubic", given, tmp_path_factory.mktemp("paired"), engine="simulate", report=False)
    assert isinstance(found, dumbbell.Run)
    return found


def captured(
    run: dumbbell.Run, folder: Path, change: Callable[[Packet], Packet | None] = lambda packet: packet
) -> Between:
    """The run's two captures, with `change` made to the second."""
    first = dumbbell.pcap(run.directory / "capture.pcapng", output=folder / "a", interfaces=SENDER)
    changed = (change(packet) for packet in packets(run.directory / "capture.pcapng", RECEIVER))
    kept = [packet for packet in changed if packet is not None]
    (folder / "b.pcap").write_bytes(as_pcap(kept))
    return between(first, dumbbell.pcap(folder / "b.pcap", output=folder / "b"))


def test_each_packet_has_its_fate_and_its_delay(run: dumbbell.Run, tmp_path: Path) -> None:
    file = run.directory / "capture.pcapng"
    first, second = (
        dumbbell.pcap(file, output=tmp_path / name, interfaces=interfaces)
        for name, interfaces in (("a", SENDER), ("b", RECEIVER))
    )
    found = between(first, second)
    assert found.first_is_nearer
    origin = first.summary["origin_ns"]
    for link, direction in (("bottleneck", "to-server"), ("bottleneck-reverse", "to-client")):
        truth = run.packets.filter(pl.col("link") == link)
        delivered = pl.when(pl.col("fate").cast(pl.String) == "delivered").then(pl.col("delivery_ns"))
        real = truth.select("arrival_ns", delivered).sort("arrival_ns", "delivery_ns").rows()
        mine = found.pairs.filter(pl.col("direction") == direction)
        sent, got = ("first_ns", "second_ns") if direction == "to-server" else ("second_ns", "first_ns")
        seen = mine.select(pl.col(sent) + origin, pl.col(got) + origin).sort(sent, got).rows()
        assert seen == real
        assert len(real) > 3_000
    lost = found.pairs.filter(pl.col("fate") == "lost").height
    fates = run.packets.filter(pl.col("link").is_in(["bottleneck", "bottleneck-reverse"]))["fate"].cast(pl.String)
    # What was still under way at the end has no other fate.
    assert lost == (fates != "delivered").sum() > 20
    assert set(found.pairs["fate"].unique()) == {"delivered", "lost"}
    reordered = run.packets.filter((pl.col("link") == "bottleneck") & pl.col("reordered").is_not_null())
    assert found.ways["reordered"].sum() > 0
    assert reordered.height > 0
    low, high = found.clocks.offset_low_ns, found.clocks.offset_high_ns
    assert low is not None
    assert high is not None
    assert low <= 0 <= high
    assert high - low <= 31e6


def test_a_clock_that_is_ahead_and_gains_is_found(run: dumbbell.Run, tmp_path: Path) -> None:
    found = captured(run, tmp_path, lambda one: replace(one, time_ns=round(one.time_ns * (1 + 50e-6)) + 3_700_000_000))
    clocks = found.clocks
    assert clocks.offset_low_ns is not None
    assert clocks.offset_high_ns is not None
    assert clocks.offset_low_ns - 300_000 <= 3_700_000_000 <= clocks.offset_high_ns + 300_000
    assert clocks.skew_ppm == pytest.approx(50, abs=15)


def test_what_a_capture_missed_was_not_lost(run: dumbbell.Run, tmp_path: Path) -> None:
    whole = captured(run, tmp_path / "whole").pairs
    chance = random.Random(1)
    found = captured(run, tmp_path / "part", lambda one: one if chance.random() > 0.01 else None).pairs
    # What nobody acknowledged before the capture ended may have been lost.
    told = pl.col("first_ns") < whole["first_ns"].max() - 100_000_000
    data = pl.col("is_data") & (pl.col("direction") == "to-server") & told
    missed = found.filter(data & (pl.col("fate") == "missed-by-second")).height
    gone = (
        whole.filter(data & (pl.col("fate") == "delivered")).height
        - found.filter(data & (pl.col("fate") == "delivered")).height
    )
    assert gone > 50
    assert missed == pytest.approx(gone, rel=0.05)
    back = found.filter((pl.col("direction") == "to-client") & (pl.col("fate") == "missed-by-second"))
    assert back.height > 20


def test_the_command_reads_a_run_at_both_ends(
    run: dumbbell.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["pcap", str(run.directory), "--and", str(run.directory), "--no-report"]
    assert invoke([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["between"]
    assert told["clock_offset_low_ns"] <= 0 <= told["clock_offset_high_ns"]
    assert {one["direction"] for one in told["directions"]} == {"to-server", "to-client"}
    assert (tmp_path / f"{run.directory.name}.analysis" / "pairs.parquet").is_file()
    assert invoke(arguments) == 0
    assert "B's clock is ahead by" in capsys.readouterr().out


def test_captures_without_a_common_connection_are_refused(run: dumbbell.Run, tmp_path: Path) -> None:
    (tmp_path / "other.pcap").write_bytes(lossy())
    other = dumbbell.pcap(tmp_path / "other.pcap", output=tmp_path / "other")
    first = dumbbell.pcap(run.directory / "capture.pcapng", output=tmp_path / "a", interfaces=SENDER)
    with pytest.raises(InputError, match="no connection in common"):
        between(first, other)


def test_other_packets_of_the_same_ports_are_refused_or_left_out(tmp_path: Path) -> None:
    """Ports are used again: two connections, of which the second of B has other packets, or both have."""

    def made(name: str, ids: tuple[int, int]) -> dumbbell.Capture:
        parts = [
            packet(at + step, id + step, ACK | flags, seq, 5_000 + at, payload, port=40_000 + port)
            for port, id in enumerate(ids)
            for at in (1_000_000 * port,)
            for step, (flags, seq, payload) in enumerate([(0, 1_000, 500), (0, 1_500, 500), (0, 2_000, 0)])
        ]
        (tmp_path / name).write_bytes(HEAD + b"".join(parts))
        return dumbbell.pcap(tmp_path / name, output=tmp_path / f"{name}.out")

    first, same, half, other = (
        made(name, ids)
        for name, ids in [("a.pcap", (1, 11)), ("b.pcap", (1, 11)), ("c.pcap", (1, 21)), ("d.pcap", (31, 21))]
    )
    assert between(first, same).unrelated == ()
    found = between(first, half)
    assert (found.unrelated, set(found.pairs["connection"])) == ((2,), {1})
    said = "Connection 2 has the same addresses and ports in B, but no packet in common"
    assert said in table(found).title
    with pytest.raises(InputError, match=r"no packet in common\n.*the second began 0 s after the first"):
        between(first, other)


def test_queueing_hides_no_clock() -> None:
    rng = np.random.default_rng(1)
    at = np.sort(rng.integers(0, 20_000_000_000, 5_000))
    there = 10_000_000 + rng.exponential(5e6, 5_000).astype(np.int64) + (at * 20e-6).astype(np.int64) + 1_000_000_000
    back = 12_000_000 + rng.exponential(1e6, 5_000).astype(np.int64) - (at * 20e-6).astype(np.int64) - 1_000_000_000
    found = compare(at, there, at, back)
    assert found.skew_ppm == pytest.approx(20, abs=1)
    assert found.offset_low_ns is not None
    assert found.offset_high_ns is not None
    assert found.offset_low_ns <= 1_000_000_000 <= found.offset_high_ns
    assert found.offset_high_ns - found.offset_low_ns == pytest.approx(22_000_000, rel=0.05)
    nothing = np.array([], dtype=np.int64)
    assert compare(at, there, nothing, nothing).offset_low_ns is None


def test_the_ladder_has_the_slopes_that_were_measured(run: dumbbell.Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["pcap", str(run.directory), "--and", str(run.directory), "--output", str(out)]
    assert invoke([*arguments, "--connection", "1", "--from", "1 s", "--to", "1.2 s"]) == 0
    capture = dumbbell.pcap(out)
    panel = build(capture, [Part(1, 1_000_000_000, 1_200_000_000, ASKED)], [1]).panel("ladder")
    assert panel is not None
    slopes, between_ends = panel.views
    assert slopes.name.endswith("from A to B")
    assert not between_ends.name.endswith("from A to B")
    pairs = pl.read_parquet(out / "pairs.parquet").filter(pl.col("connection") == 1)
    lines = [mark for mark in slopes.marks if isinstance(mark, Line)]
    # One clock, so that whatever offset is taken lines last as long as packets took, but for that offset.
    offset = capture.summary["between"]["offset_ns"]
    for line, direction, sign in zip(lines, ("to-server", "to-client"), (-1, 1), strict=True):
        assert line.time_s is not None
        time = line.time_s.to_numpy().reshape(-1, 3)
        took = {round(float(ns)) for ns in 1e9 * (time[:, 1] - time[:, 0])}
        mine = pairs.filter((pl.col("direction") == direction) & (pl.col("fate") == "delivered"))
        real = set((mine["delay_ns"] + sign * offset).to_list())
        assert len(time) > 20
        assert all(any(abs(ns - one) <= 1 for one in real) for ns in took)
        assert line.values.to_list()[:3] == ([1.0, 0.0, None] if direction == "to-server" else [0.0, 1.0, None])
