"""The emulated bottleneck against an ideal one, packet by packet."""

from __future__ import annotations

import polars as pl
import pytest
from harness import Place, assert_enough
from scenarios import flow, path
from stages import thorough_after

from benches.replay import Passed, replay
from dumbbell.plan.wire import part


def test_the_replay_of_three_packets_by_hand() -> None:
    # 1000 B at 7 Mbit/s take 1,142,857 1/7 ns: the seventh in a row leaves on a whole nanosecond.
    row = replay([(0, 1000)] * 7, rate_bps=7_000_000)
    assert [packet.departure_ns for packet in row] == [n * 8_000_000 // 7 for n in range(1, 8)]
    assert [packet.queue_bytes for packet in row] == [0, 0, 1000, 2000, 3000, 4000, 5000]
    # Room for one packet: the third finds it taken; at 1,142,857 ns the second has just begun its service.
    assert replay([(0, 1000), (0, 1000), (0, 1000), (1_142_857, 1000)], 7_000_000, buffer_packets=1) == [
        Passed(0, 1_142_857),
        Passed(0, 2_285_714),
        Passed(1000, None),
        Passed(0, 3_428_571),
    ]
    # Bytes: there is room for 999, and a smaller packet still fits.
    assert [p.departure_ns is None for p in replay([(0, 1000), (0, 1000), (0, 999)], 7_000_000, 999)] == [0, 1, 0]


@pytest.mark.parametrize(
    ("buffer", "rate"),
    thorough_after(1, [("0.5 bdp", "30 Mbit/s"), ("10 kB", "20 Mbit/s"), ("7 packets", "7 Mbit/s")]),
)
def test_departures_and_drops_are_those_of_an_ideal_fifo(here: Place, buffer: str, rate: str) -> None:
    # CUBIC by itself, and for a while a stream that is faster than the link, so that packets of two flows are dropped.
    burst = flow(protocol="udp", rate="60 Mbit/s", start="1 s", stop="1100 ms")
    overhead = f'buffer = "{buffer}", overhead = "4 B"'
    run = here.run(path(flow(cc="cubic"), burst, rate=rate, bottleneck=overhead, duration="2 s"))
    (link,) = [part(link) for link in run.plan.links if link.name == "bottleneck"]
    # Packets are numbered as they enter, so `packet` tells the order of those that came in the same nanosecond.
    packets = run.packets.filter(pl.col("link") == "bottleneck").sort("arrival_ns", "packet")
    ideal = replay(
        packets.select("arrival_ns", pl.col("size_bytes") + link["overhead_bytes"]).iter_rows(),
        link["rate_bps"],
        link["buffer"].get("bytes"),
        link["buffer"].get("packets"),
    )
    dropped = packets["fate"] == "dropped-tail"
    assert dropped.to_list() == [packet.departure_ns is None for packet in ideal]
    assert packets["queue_bytes"].to_list() == [packet.queue_bytes for packet in ideal]
    # A packet that still waited when the run ended has not departed; those can only be the last ones.
    there = packets["fate"] == "inside"
    waits = there & packets["departure_ns"].is_null()
    expected = [None if waiting else packet.departure_ns for waiting, packet in zip(waits, ideal, strict=True)]
    assert packets["departure_ns"].to_list() == expected
    assert not there.head(len(packets) - 400).any()
    # More than a few, or the test would say little.
    assert_enough(run, dropped.sum() > 100 and len(packets) > 500, (dropped.sum(), len(packets)))
