"""tshark reads in a capture what `dumbbell pcap` reads; where what it infers differs, its rules explain it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from harness import Place
from scenarios import flow, path
from stages import thorough_after

import dumbbell
from benches.pcapng import as_pcap, packets
from dumbbell.captures.detail import Part, read
from dumbbell.engines.names import SIMULATE

PLACES: Final = {
    "sender": ["bottleneck:in", "bottleneck-reverse:out"],
    "receiver": ["bottleneck:out", "bottleneck-reverse:in"],
}
FIELDS: Final = (
    "frame.time_epoch", "tcp.stream", "tcp.srcport", "tcp.seq", "tcp.ack", "tcp.len", "tcp.window_size", "tcp.flags",
    "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr", "tcp.options.sack_le", "tcp.options.sack_re",
    "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission", "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order", "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment", "tcp.analysis.ack_rtt",
    "tcp.analysis.initial_rtt", "tcp.options.mss_val",
)  # fmt: skip
REPEATED: Final = FIELDS[12:16]
_ENDLESS_NS: Final = 1 << 62
_DAY_NS: Final = 86_400_000_000_000


def fields(file: Path, names: Sequence[str] = FIELDS, *options: str) -> list[dict[str, str]]:
    """Returns tshark's fields of each packet; empty if it lacks one."""
    command = ["tshark", "-r", file, *options, "-T", "fields", *(word for name in names for word in ("-e", name))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [dict(zip(names, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


class Both:
    """A capture as tshark sees it, and as we do."""

    def __init__(self, here: Place, folder: Path, text: str, place: str = "sender") -> None:
        run = here.run(text, "--engine", SIMULATE)
        self.file = folder / f"{place}.pcap"
        # tshark takes a SYN at time 0 for none: its handshake would have no RTT.
        found = packets(run.directory / "capture.pcapng", PLACES[place])
        later = (replace(one, time_ns=one.time_ns + _DAY_NS) for one in found)
        self.file.write_bytes(as_pcap(later))
        self.theirs = fields(self.file)
        self.ours = dumbbell.pcap(self.file, output=folder / place)
        count = self.ours.summary["connections"]
        self.detail = read(self.ours, [Part(number, -1, _ENDLESS_NS, "all") for number in range(1, count + 1)])
        self.origin_s = self.ours.summary["origin_ns"] / 1e9


LOSSY: Final = path(
    flow(), flow(cc="bbr"), bottleneck='buffer = "0.3 bdp", loss = "1 %"', duration="3 s",
    more="record = { capture = true }",
)  # fmt: skip


@pytest.mark.parametrize("place", thorough_after(1, PLACES))
def test_each_packet_has_the_same_fields(here: Place, tmp_path: Path, place: str) -> None:
    both = Both(here, tmp_path, LOSSY, place)
    rows = both.detail.segments.to_dicts()
    assert len(rows) == len(both.theirs) == both.ours.summary["segments"] > 4_000
    for own, other in zip(rows, both.theirs, strict=True):
        is_syn = "SYN" in own["flags"].split()
        assert own["connection"] == int(other["tcp.stream"]) + 1
        assert own["bytes"] == int(other["tcp.len"])
        # Byte 0 is behind the SYN, which has a number of its own.
        assert own["seq"] == int(other["tcp.seq"]) - (0 if is_syn else 1)
        assert own["ack"] == (int(other["tcp.ack"]) - 1 if "ACK" in own["flags"] else None)
        if own["ack"] is not None:
            assert own["window_end"] - own["ack"] == int(other["tcp.window_size"])
        assert (own["tsval"], own["tsecr"]) == tuple(
            int(other[f"tcp.options.timestamp.{name}"]) for name in ("tsval", "tsecr")
        )
        bits = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")
        assert sum(1 << bits.index(name) for name in own["flags"].split()) == int(other["tcp.flags"], 16)


def test_sack_blocks_are_the_same(here: Place, tmp_path: Path) -> None:
    both = Both(here, tmp_path, LOSSY)
    theirs = [
        (int(one["tcp.stream"]) + 1, int(start) - 1, int(end) - 1)
        for one in both.theirs
        if one["tcp.options.sack_le"]
        for start, end in zip(one["tcp.options.sack_le"].split(","), one["tcp.options.sack_re"].split(","), strict=True)
    ]
    ours = both.detail.sacks.select("connection", "start", "end").rows()
    assert ours == theirs
    assert len(ours) > 100


@pytest.mark.parametrize("place", thorough_after(1, PLACES))
def test_what_tshark_marks_as_sent_again_is_what_we_do(here: Place, tmp_path: Path, place: str) -> None:
    """Four marks of tshark together are our repeats and filled holes; which of them, its rules of time decide."""
    both = Both(here, tmp_path, LOSSY, place)
    rows = both.detail.segments.to_dicts()
    marked = {at for at, one in enumerate(both.theirs) if any(one[name] for name in REPEATED)}
    ours = {at for at, row in enumerate(rows) if row["class"] in ("repeat", "overlap", "fill", "duplicate")}
    assert marked == ours
    assert len(ours) > 30
    highest: dict[int, tuple[int, int]] = {}
    least = {
        row["connection"]: (row["handshake_server_ns"] + row["handshake_client_ns"])
        for row in both.ours.connections.to_dicts()
    }
    unexplained = []
    for at, (row, other) in enumerate(zip(rows, both.theirs, strict=True)):
        if row["direction"] != "to-server" or not row["bytes"]:
            continue
        number = row["connection"]
        is_other = at in ours and other["tcp.analysis.out_of_order"] and row["cause"] != "reordered"
        # Within the handshake's round trip behind the highest packet tshark takes any for reordered.
        if is_other and row["time_ns"] - highest[number][1] > least[number]:
            unexplained.append((at, row))
        if row["seq"] + row["bytes"] > highest.get(number, (0, 0))[0]:
            highest[number] = (row["seq"] + row["bytes"], row["time_ns"])
    assert unexplained == []


def test_times_of_round_trips_are_the_same_where_nothing_is_lost(here: Place, tmp_path: Path) -> None:
    calm = path(flow(), bottleneck='buffer = "4 bdp"', duration="1 s", more="record = { capture = true }")
    both = Both(here, tmp_path, calm)
    assert not both.ours.events.height
    theirs = {
        (round(1e6 * (float(one["frame.time_epoch"]) - both.origin_s)), round(1e6 * float(one["tcp.analysis.ack_rtt"])))
        for one in both.theirs
        if one["tcp.analysis.ack_rtt"]
    }
    data = both.ours.rtt.filter((pl.col("direction") == "to-server") & (pl.col("kind") == "data"))
    ours = [(round(time / 1e3), round(rtt / 1e3)) for time, rtt in data.select("time_ns", "rtt_ns").rows()]
    assert len(ours) > 100
    missing = [
        one for one in ours if not any((one[0] + a, one[1] + b) in theirs for a in (-1, 0, 1) for b in (-1, 0, 1))
    ]
    assert missing == []
    (connection,) = both.ours.connections.to_dicts()
    initial = next(float(one["tcp.analysis.initial_rtt"]) for one in both.theirs if one["tcp.analysis.initial_rtt"])
    assert connection["handshake_server_ns"] + connection["handshake_client_ns"] == pytest.approx(
        1e9 * initial, abs=1e3
    )


def test_nothing_is_lost_by_the_capture(here: Place, tmp_path: Path) -> None:
    both = Both(here, tmp_path, LOSSY)
    assert not any(one["tcp.analysis.lost_segment"] or one["tcp.analysis.ack_lost_segment"] for one in both.theirs)
    assert not both.ours.directions["unseen_bytes"].sum()


def test_capinfos_counts_the_same_packets(here: Place, tmp_path: Path) -> None:
    run = here.run(LOSSY, "--engine", SIMULATE)
    file = run.directory / "capture.pcapng"
    done = subprocess.run(
        ["capinfos", "-T", "-M", "-r", "-c", "-u", "-o", "-K", "-S", "-a", "-e", file],
        capture_output=True,
        text=True,
        check=True,
    )
    # Name, packets, duration, first and last time, order.
    told = done.stdout.strip().split("\t")
    capture = dumbbell.pcap(file, output=tmp_path / "out")
    frames = sum(1 for _ in packets(file))
    assert int(told[1]) == frames == capture.summary["notes"]["frames"]
    assert "True" in told
