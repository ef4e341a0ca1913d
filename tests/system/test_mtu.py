"""A network's MTU over real sockets: TCP's segments, the frames on the link, and a simulator that agrees."""

from __future__ import annotations

import polars as pl
import pytest
from graphs import flow as graph_flow
from graphs import graph, link
from harness import Place
from scenarios import checks, flow, path
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import VIRTUAL

FLOWS = flow(), flow(protocol="udp", rate="1 Mbit/s", start="200 ms"), flow(protocol="ping", payload="100 B")
SIMULATE = ("--engine", "simulate")


def goodput(run: dumbbell.Run) -> float:
    """The goodput of the TCP flow, bit/s."""
    return next(row["goodput_bps"] for row in run.summary["flows"] if row["id"] == "f1")


@pytest.mark.parametrize(
    ("mtu", "mss", "payload", "way"),
    thorough_after(1, [(9000, 8948, 8972, "gso"), (576, 524, 548, "wire"), (9000, 8948, 8972, "wire")]),
)
def test_packets_fill_the_mtu(mtu: int, mss: int, payload: int, way: str, here: Place) -> None:
    keys = ("--set", f"topology.mtu={mtu}", "--set", f"emulate.path={way}")
    scenario = path(*FLOWS, rate="20 Mbit/s", duration="2500 ms", bottleneck='buffer = "2 bdp"')
    emulated, simulated = here.run(scenario, *keys), here.run(scenario, *keys, *SIMULATE)
    for run in (emulated, simulated):
        # TCP_INFO's tcpi_snd_mss, and the simulator's.
        tcp = run.samples.filter(pl.col("flow") == "f1")["snd_mss_bytes"].drop_nulls()
        assert set(tcp.unique()) == {mss}
        packets = run.packets.filter(pl.col("link") == "bottleneck")
        sizes = dict(packets.group_by("flow").agg(pl.col("size_bytes").max()).iter_rows())
        assert sizes == {"f1": mtu + 14, "f2": payload + 42, "f3": 142}
    found = checks(emulated)
    for name in ("conservation", "packet-log", "ring-drops", "send-errors", "interfaces", "unroutable", "offloads"):
        assert found[name]["verdict"] == "valid", found[name]
    # TCP's share of the link, 19 of 20 Mbit/s in frames; starting takes a tenth of a second or so.
    assert goodput(simulated) == pytest.approx(19e6 * mss / (mss + 66), rel=0.1)


@pytest.mark.parametrize("mtu", thorough_after(1, [576, 9000]))
def test_a_kernel_and_the_simulator_agree_on_the_goodput(mtu: int, here: Place) -> None:
    keys = ("--set", f"topology.mtu={mtu}")
    scenario = path(*FLOWS, rate="20 Mbit/s", duration="2500 ms", bottleneck='buffer = "2 bdp"')
    kernel, simulated = here.run(scenario, *keys, "--engine", VIRTUAL), here.run(scenario, *keys, *SIMULATE)
    assert goodput(kernel) == pytest.approx(goodput(simulated), rel=0.1)


@pytest.mark.parametrize("way", thorough_after(1, ["wire", "gso"]))
def test_routing_daemons_and_bursts_over_a_link_with_a_small_mtu(way: str, anyone: Place) -> None:
    """OSPF tells neighbours of the MTU (RFC 2328, section 10.6), and routers tell senders of it by ICMP (RFC 1191)."""
    scenario = graph(
        link("h1", "r1"),
        link("r1", "r2", "core", rate="20 Mbit/s", delay="5 ms", buffer="50 packets", mtu=1000),
        link("r2", "h2"),
        graph_flow("h1", "h2", bytes="500 kB"),
        nodes={router: {"routing": ["ospf"]} for router in ("r1", "r2")},
        duration="4 s",
        wait="60 s",
    )
    run = anyone.run(scenario, "--set", f"emulate.path={way}")
    found = checks(run)
    for name in ("conservation", "packet-log", "ring-drops", "send-errors", "interfaces", "unroutable", "offloads"):
        assert found[name]["verdict"] == "valid", found[name]
    assert run.flows["received_bytes"].item() == 500_000
    core = run.packets.filter(pl.col("link") == "core", pl.col("flow") == "f1")
    assert core["size_bytes"].max() == 1014
    assert run.samples["snd_mss_bytes"].drop_nulls().tail(1).item() == 948
    assert run.routes is not None
    assert set(run.routes.filter(pl.col("protocol") == "ospf")["router"]) == {"r1", "r2"}
