"""tcptrace counts in a capture what `dumbbell pcap` counts. RTT samples follow other rules, and are not compared."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

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


def traced(file: Path) -> list[dict[str, list[int]]]:
    """Of each connection tcptrace's fields, of both directions."""
    text = subprocess.run(["tcptrace", "-l", "-n", file], capture_output=True, text=True, check=True).stdout
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
