"""tcptrace counts in a capture what `dumbbell pcap` counts. Its RTT samples follow other rules: with these, packets as
`dumbbell pcap` reads them give the same samples."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from harness import Place
from scenarios import flow, path

import dumbbell
from benches.pcapng import as_pcap, packets
from dumbbell.engines.names import SIMULATE

FIELDS: Final = {
    "total packets": "packets",
    "ack pkts sent": "ack_packets",
    "pure acks sent": "pure_acks",
    "sack pkts sent": "sack_packets",
    "dsack pkts sent": "dsack_packets",
    "max sack blks/ack": "sack_blocks_max",
    "unique bytes sent": "unique_bytes",
    "actual data pkts": "data_packets",
    "actual data bytes": "payload_bytes",
    "rexmt data pkts": "repeated_packets",
    "rexmt data bytes": "repeated_bytes",
    "pushed data pkts": "pushed_packets",
    "mss requested": "mss_bytes",
    "max segm size": "segment_max_bytes",
    "min segm size": "segment_min_bytes",
    "max win adv": "window_max_bytes",
    "min win adv": "window_min_bytes",
    "zero win adv": "zero_windows",
}
"""The columns of `directions` that are tcptrace's fields."""


SYN: Final = -1
"""Where a SYN is: byte 0 is behind it."""


def told(file: Path, *options: str) -> str:
    """tcptrace's long report."""
    return subprocess.run(["tcptrace", "-l", "-n", *options, file], capture_output=True, text=True, check=True).stdout


def traced(file: Path) -> list[dict[str, list[int]]]:
    """Returns tcptrace's fields of each connection, of both directions."""
    text = told(file)
    connections: list[dict[str, list[int]]] = []
    for line in text.splitlines():
        if re.match(r"TCP connection \d+:$", line):
            connections.append({})
        elif connections:
            both = re.findall(r"([\w/]+(?: [\w/]+)*): +(\d+)\b", line)
            if len(both) == 2 and both[0][0] in FIELDS and both[0][0] not in connections[-1]:
                connections[-1][both[0][0]] = [int(value) for _, value in both]
    return connections


def test_tcptrace_counts_the_same(here: Place, tmp_path: Path) -> None:
    lossy = 'buffer = "0.3 bdp", loss = "1 %"'
    text = path(flow(), flow(cc="bbr"), bottleneck=lossy, duration="3 s", more="record = { capture = true }")
    run = here.run(text, "--engine", SIMULATE)
    places = ["bottleneck:in", "bottleneck-reverse:out"]
    file = tmp_path / "sender.pcap"
    file.write_bytes(as_pcap(packets(run.directory / "capture.pcapng", places)))
    theirs = traced(file)
    ours = dumbbell.pcap(file, output=tmp_path / "out").directions
    assert len(theirs) == 2
    assert all(connection.keys() == FIELDS.keys() for connection in theirs)
    for number, connection in enumerate(theirs, 1):
        for direction, place in (("to-server", 0), ("to-client", 1)):
            rows = [row for row in ours.to_dicts() if (row["connection"], row["direction"]) == (number, direction)]
            (row,) = rows
            assert {column: row[column] or 0 for column in FIELDS.values()} == {
                FIELDS[field]: values[place] for field, values in connection.items()
            }
    assert sum(connection["rexmt data pkts"][0] for connection in theirs) > 30
    whole = dumbbell.pcap(run.directory / "capture.pcapng", output=tmp_path / "whole", interfaces=places).directions
    assert [row["repeated_bytes"] for row in whole.to_dicts()] == [row["repeated_bytes"] for row in ours.to_dicts()]


def timed(file: Path) -> list[list[dict[str, float]]]:
    """Returns the number of tcptrace's RTT samples by connection and direction, and least, largest and mean, ms."""
    connections: list[list[dict[str, float]]] = []
    for line in told(file, "-r").splitlines():
        if re.match(r"TCP connection \d+:$", line):
            connections.append([{}, {}])
        for place, (name, value) in enumerate(re.findall(r"RTT (samples|min|max|avg): +([\d.]+)", line)):
            connections[-1][place][name] = float(value)
    return connections


def round_trips(rows: Sequence[dict[str, Any]], direction: str) -> list[float]:
    """Times in ms by tcptrace's rule: of an ACK that ends exactly where a segment does, which was sent once, and behind
    which nothing below it was sent. SYN and FIN are bytes."""
    sent: dict[int, list[int]] = {}
    again: list[tuple[int, int]] = []
    reached, found = -2, []
    for row in rows:
        flags, us = row["flags"].split(), row["time_ns"] // 1000
        if row["direction"] == direction:
            start = SYN if "SYN" in flags else row["seq"]
            end = start + row["bytes"] + ("SYN" in flags) + ("FIN" in flags)
            if end == start:
                continue
            if start in sent:
                again.append((start, us))
                sent[start][1:] = [us, sent[start][2] + 1]
            else:
                sent[start] = [end, us, 1]
            continue
        if row["ack"] is None or row["ack"] <= reached:
            continue
        reached = row["ack"]
        for start, (end, at, copies) in sent.items():
            if end == reached and copies == 1 and not any(below < start and later > at for below, later in again):
                found.append((us - at) / 1e3)
    return found


def test_its_samples_of_round_trips_follow_from_our_packets(here: Place, tmp_path: Path) -> None:
    lossy = 'buffer = "0.3 bdp", loss = "1 %"'
    text = path(flow(), flow(cc="bbr"), bottleneck=lossy, duration="3 s", more="record = { capture = true }")
    run = here.run(text, "--engine", SIMULATE)
    file = tmp_path / "sender.pcap"
    file.write_bytes(as_pcap(packets(run.directory / "capture.pcapng", ["bottleneck:in", "bottleneck-reverse:out"])))
    theirs = timed(file)
    capture = dumbbell.pcap(file, output=tmp_path / "out", segments="all")
    segments = capture.rows("segments", [1, 2])
    assert len(theirs) == 2
    for number, both in enumerate(theirs, 1):
        rows = segments.filter(pl.col("connection") == number).to_dicts()
        for direction, other in zip(("to-server", "to-client"), both, strict=True):
            found = round_trips(rows, direction)
            assert other["samples"] == len(found)
            assert other["min"] == pytest.approx(min(found), abs=0.051)
            assert other["max"] == pytest.approx(max(found), abs=0.051)
            assert other["avg"] == pytest.approx(sum(found) / len(found), abs=0.051)
    assert sum(both[0]["samples"] for both in theirs) > 1_000
    # Ours take SACKs, too, and none that waited for a hole to be filled.
    ours = capture.directions.filter(pl.col("direction") == "to-server")
    for row, both in zip(ours.to_dicts(), theirs, strict=True):
        assert row["rtt_samples"] >= 0.9 * both[0]["samples"]
        assert row["rtt_min_ns"] / 1e6 == pytest.approx(both[0]["min"], abs=1)
