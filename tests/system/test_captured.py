"""Captures of runs whose packets are real: each is there as it came to each link, and as it left it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from harness import Place
from scenarios import flow, path
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import EMULATE, VIRTUAL

RECORDED = path(flow(), flow(protocol="udp", rate="1 Mbit/s"), duration="1 s", more="record = { capture = true }")


@pytest.mark.parametrize("engine", thorough_after(1, [EMULATE, VIRTUAL]))
def test_packets_of_a_kernel_are_captured_with_its_headers(engine: str, here: Place, tmp_path: Path) -> None:
    run = here.run(RECORDED, "--engine", engine)
    file = run.directory / "capture.pcapng"
    for name in ("bottleneck", "bottleneck-reverse"):
        packets = run.packets.filter(pl.col("link") == name)
        delivered = packets.filter(pl.col("fate") == "delivered")
        for side, rows, column in (("in", packets, "arrival_ns"), ("out", delivered, "delivery_ns")):
            capture = dumbbell.pcap(file, output=tmp_path / "out", interfaces=[f"{name}:{side}"])
            assert capture.summary["notes"]["frames"] == len(rows)
            tcp = rows.filter(pl.col("tcp_seq").is_not_null())[column].sort()
            assert (capture.summary["origin_ns"], capture.summary["segments"]) == (tcp[0], len(tcp))
    senders = dumbbell.pcap(file, output=tmp_path / "out", interfaces=["bottleneck:in", "bottleneck-reverse:out"])
    (connection,) = senders.connections.to_dicts()
    (tcp,) = run.flows.filter(pl.col("protocol") == "tcp").to_dicts()
    assert connection["server_port"] == tcp["port"]
    seen = senders.directions.filter(pl.col("direction") == "to-server").to_dicts()[0]
    assert seen["repeated_packets"] + seen["lost_before_packets"] == tcp["retransmitted_segments"]
    assert seen["sack_packets"] == 0
    assert seen["mss_bytes"] == 1460
