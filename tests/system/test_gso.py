"""The GSO path: bursts cross the boundary to the kernel whole, the links see segments, and TCP sees no difference."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transfer
from harness import Place, assert_enough
from scenarios import checks, flow, link, path

import dumbbell
from dumbbell.records.files import read_json

SIZE = 6_000_000
FULL_FRAME = 1514
GSO = '[emulate]\npath = "gso"\n'
PROGRAM = Path(transfer.__file__)


def carry(place: Place, bottleneck: str, size: int = SIZE, more: str = GSO) -> tuple[dumbbell.Run, dict[str, Any]]:
    """A transfer of `size` bytes at 200 Mbit/s and 10 ms; the run, and what the receiver says."""
    out = place.directory / "received.json"
    file = flow(
        command=f"exec {sys.executable} {PROGRAM} send {{server}} {{port}} {size}",
        server_command=f"exec {sys.executable} {PROGRAM} receive {{port}} {out}",
    )
    scenario = path(file, rate="200 Mbit/s", rtt="10 ms", duration="4 s", bottleneck=bottleneck, more=more)
    run = place.run(scenario)
    return run, json.loads(out.read_text(encoding="ascii"))


def assert_intact(received: dict[str, Any], size: int = SIZE) -> None:
    assert received["sha256"] == hashlib.sha256(transfer.content(size)).hexdigest()


def assert_accounted_for(run: dumbbell.Run) -> None:
    found = checks(run)
    for name in ("conservation", "packet-log", "ring-drops", "send-errors", "interfaces", "unroutable", "offloads"):
        assert found[name]["verdict"] == "valid", found[name]


def crossed_in_bursts(run: dumbbell.Run) -> dict[str, Any]:
    """The emulator's account, after a look at whether the test tests anything."""
    emulator: dict[str, Any] = read_json(run.directory / "emulator.json")
    assert emulator["path"] == "gso"
    assert emulator["segments_in"] > 2 * emulator["bursts_in"]
    return emulator


def test_the_links_see_segments_and_the_receiver_gets_them_all(here: Place) -> None:
    run, received = carry(here, 'buffer = "1 bdp"')
    assert_intact(received)
    assert_accounted_for(run)
    emulator = crossed_in_bursts(run)
    data = run.packets.filter(pl.col("link") == "bottleneck", pl.col("payload_bytes") > 0)
    assert data["size_bytes"].max() == FULL_FRAME
    assert len(data) >= SIZE / 1448
    # Everything that left is in some frame, and each segment was logged with a separate sequence number.
    assert emulator["segments_out"] == emulator["sent_packets"] == emulator["left_packets"]
    assert emulator["bursts_out"] < emulator["segments_out"]
    first_of_each = data.unique("tcp_seq")
    assert first_of_each["payload_bytes"].sum() >= SIZE


def test_drops_losses_and_copies_in_the_middle_of_bursts_are_repaired(here: Place) -> None:
    run, received = carry(here, 'buffer = "30 packets", loss = "0.5 %", duplicate = "1 %"')
    assert_intact(received)
    assert_accounted_for(run)
    crossed_in_bursts(run)
    fates = run.packets.filter(pl.col("link") == "bottleneck")["fate"].value_counts()
    happened = {**dict(fates.iter_rows()), "duplicates": run.packets["duplicate"].sum()}
    is_enough = {"dropped-tail", "lost-before"} <= happened.keys() and happened["duplicates"] > 10
    assert_enough(run, is_enough, happened)


def test_corruption_is_found_by_the_receivers_checksum(here: Place) -> None:
    run, received = carry(here, 'buffer = "1 bdp", corrupt = "1 %"')
    assert_intact(received)
    assert_accounted_for(run)
    crossed_in_bursts(run)
    there = run.packets.filter(pl.col("link") == "bottleneck", pl.col("corrupted"), pl.col("fate") == "delivered")
    # A flipped bit in the header's length makes a segment that is refused before its checksum is looked at.
    assert len(there) > 20
    assert 0.8 * len(there) <= received["Tcp.InCsumErrors"] <= len(there)


def test_marks_arrive_and_a_marked_segment_leaves_without_its_neighbours(here: Place) -> None:
    ecn = '[hosts.sysctl]\n"net.ipv4.tcp_ecn" = 1\n'
    queue = 'buffer = "1 bdp", queue = { kind = "drop-tail", ce_threshold = "40 packets" }'
    run, received = carry(here, queue, more=GSO + ecn)
    assert_intact(received)
    assert_accounted_for(run)
    crossed_in_bursts(run)
    there = run.packets.filter(pl.col("link") == "bottleneck", pl.col("ecn") == "ce", pl.col("sent_ns").is_not_null())
    assert len(there) > 20
    assert received["IpExt.InCEPkts"] == len(there)
    assert received["IpExt.InECT0Pkts"] > 20
    assert received["Tcp.InCsumErrors"] == 0


def test_udp_bursts_are_taken_apart_too(here: Place) -> None:
    out = here.directory / "datagrams.json"
    udp = flow(
        command=f"exec {sys.executable} {PROGRAM.with_name('datagrams.py')} send {{server}} {{port}}",
        server_command=f"exec {sys.executable} {PROGRAM.with_name('datagrams.py')} receive {{port}} {out}",
    )
    # The buffer holds all of them, however late the emulator comes to serve it.
    run = here.run(path(udp, rate="200 Mbit/s", rtt="10 ms", duration="3 s", bottleneck='buffer = "5 bdp"', more=GSO))
    assert_accounted_for(run)
    crossed_in_bursts(run)
    found = json.loads(out.read_text(encoding="ascii"))
    assert found == {"datagrams": 40 * 20, "wrong": 0}
    packets = run.packets.filter(pl.col("link") == "bottleneck", pl.col("payload_bytes") > 0)
    assert packets["payload_bytes"].value_counts().sort("payload_bytes").rows() == [(100, 40), (1200, 40 * 19)]


def test_an_ordinary_user_can_take_it(ordinary: Place) -> None:
    run = ordinary.run(path(flow(cc="cubic"), rate="100 Mbit/s", more=GSO))
    assert_accounted_for(run)
    crossed_in_bursts(run)
    assert run.summary["flows"][0]["received_bytes"] > 1_000_000


@pytest.mark.real_time
@pytest.mark.alone
@pytest.mark.parametrize("cc", ["cubic", pytest.param("bbr", marks=pytest.mark.thorough)])
def test_both_paths_give_the_same_goodput(here: Place, cc: str) -> None:
    goodput = {}
    for name in ("wire", "gso"):
        more = f'[emulate]\npath = "{name}"\n'
        run = here.measure(path(flow(cc=cc), rate="30 Mbit/s", rtt="20 ms", duration="3 s", more=more))
        (found,) = run.summary["flows"]
        goodput[name] = found["goodput_bps"]
        assert link(run)["drops"] > 0 or cc == "bbr"
    assert goodput["gso"] == pytest.approx(goodput["wire"], rel=0.05)


def test_whole_bursts_are_one_packet_to_the_links(here: Place) -> None:
    run, received = carry(here, 'buffer = "1 bdp"', more=GSO + "whole_bursts = true\n")
    assert_intact(received)
    assert_accounted_for(run)
    emulator = crossed_in_bursts(run)
    assert emulator["entered_packets"] == emulator["bursts_in"]
    assert run.packets["size_bytes"].max() > 4 * FULL_FRAME
