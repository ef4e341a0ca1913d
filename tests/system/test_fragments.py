"""Datagrams that are longer than a packet: the kernel's fragments are of their flow, and so are the simulator's."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from graphs import graph, link
from harness import Place
from scenarios import checks, flow, path
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import SIMULATE, VIRTUAL

LONG = flow(id="long", protocol="udp", rate="4.202 Mbit/s", payload="8192 B")
"""8,404 bytes in six frames each 16 ms."""
SHORT = flow(id="short", protocol="udp", rate="1 Mbit/s")
SIX = graph(
    link("h1", "r1"),
    link("r1", "r2", "core", rate="20 Mbit/s", delay="5 ms", buffer="1 MB"),
    link("r2", "h2"),
    flow("h1", "h2", id="long", ip=6, protocol="udp", rate="4.202 Mbit/s", payload="8192 B"),
    flow("h1", "h2", id="short", ip=6, protocol="udp", rate="1 Mbit/s"),
    name="six",
    duration="2 s",
    ipv6=True,
)
"""The buffer holds all that a sender sends at once which a busy machine has held up."""


def udp(run: dumbbell.Run, name: str = "long") -> Mapping[str, Any]:
    """A flow's account of its datagrams."""
    found: Mapping[str, Any] = next(one for one in run.summary["flows"] if one["id"] == name)["udp"]
    return found


def check(run: dumbbell.Run, name: str, frames: list[int]) -> None:
    """All packets on a link are of their flows, and each datagram is in six of them."""
    packets = run.packets.filter(pl.col("link") == name).sort("arrival_ns", "packet", maintain_order=True)
    found = packets.filter(pl.col("flow") == "long")
    sizes = found["size_bytes"].to_list()
    whole = len(sizes) // 6
    assert sizes[: 6 * whole] == frames * whole
    assert found["packet"].n_unique() == len(sizes)
    assert found.head(6 * whole)["payload_bytes"].sum() == 8192 * whole
    assert packets.filter(pl.col("flow") == "other", pl.col("size_bytes") > 200).is_empty()
    counted = udp(run)
    assert counted["sent_packets"] in range(whole, whole + 3)
    assert counted["received_packets"] >= counted["sent_packets"] - 3
    assert (counted["lost_packets"], udp(run, "short")["lost_packets"]) == (0, 0)


@pytest.mark.real_time
@pytest.mark.parametrize("way", thorough_after(1, ["wire", "gso"]))
def test_fragments_are_of_their_flow(way: str, here: Place) -> None:
    scenario = path(LONG, SHORT, duration="2 s")
    emulated = here.run(scenario, "--set", f"emulate.path={way}")
    found = checks(emulated)
    for name in ("conservation", "packet-log", "ring-drops", "send-errors", "interfaces", "unroutable", "offloads"):
        assert found[name]["verdict"] == "valid", found[name]
    check(emulated, "bottleneck", [1514] * 5 + [834])
    check(here.run(scenario, "--engine", SIMULATE), "bottleneck", [1514] * 5 + [834])


def test_fragments_of_ipv6_cross_routers(here: Place) -> None:
    for more in ((), ("--engine", SIMULATE)):
        check(here.run(SIX, *more), "core", [1510] * 5 + [1022])


def test_kernel_and_simulator_lose_the_same_datagrams(here: Place) -> None:
    """The loss takes the same 1 % of packets in both engines, so 6 % of the datagrams."""
    scenario = tomllib.loads(path(LONG, duration="20 s", bottleneck='buffer = "1 bdp", loss = "1 %"'))
    virtual, simulated = (
        udp(dumbbell.run(scenario, directory=here.directory / "runs", engine=engine, report=False))
        for engine in (VIRTUAL, SIMULATE)
    )
    for count in ("sent_packets", "received_packets", "lost_packets", "reordered_packets"):
        assert virtual[count] == simulated[count], (count, virtual, simulated)
    assert 40 < virtual["lost_packets"] < 110


def test_rests_of_datagrams_starve_others(here: Place) -> None:
    """With four times the rate and 10 % loss the rests fill 4 MiB in seconds, in the kernel and in the simulator."""
    scenario = path(
        flow(id="long", protocol="udp", rate="16.808 Mbit/s", payload="8192 B"),
        duration="40 s",
        bottleneck='buffer = "1 bdp", loss = "10 %"',
    )
    told = {}
    for engine in (VIRTUAL, SIMULATE):
        run = dumbbell.run(tomllib.loads(scenario), directory=here.directory / "runs", engine=engine, report=False)
        second = (pl.col("time_ns") // 1_000_000_000).alias("s")
        received = run.samples.group_by(second).agg(pl.col("received_bytes").max()).sort("s")["received_bytes"]
        assert 0 < received[5] == received[28], "nothing arrives"
        assert received[35] > 1.5 * received[28], "the first rests were given up after 30 s"
        told[engine] = received
    kernel, simulated = told[VIRTUAL], told[SIMULATE]
    assert kernel[:29].to_list() == simulated[:29].to_list()
    # When the first rests end depends on where in two seconds of the kernel's clock the run begins.
    assert simulated[-1] == pytest.approx(kernel[-1], rel=0.05)
