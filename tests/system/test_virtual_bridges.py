"""Bridges of Linux in virtual time: a spanning tree that is the same each time, and what a kernel lacks."""

from __future__ import annotations

import polars as pl
from graphs import event, flow, graph, link
from harness import Place

from dumbbell.engines.names import VIRTUAL

ENGINE = ("--engine", VIRTUAL)
STP = {"bridge": True, "stp": True}
RING = (
    link("h1", "s1"),
    link("h3", "s3"),
    link("s1", "s2", "left", delay="1 ms"),
    link("s1", "s3", "right", delay="1 ms"),
    link("s2", "s3", "below", delay="1 ms"),
)
CUT_S = 1.0


def test_a_cut_is_mended_after_listening_and_learning_and_each_time_alike(here: Place) -> None:
    cut = event(f"{CUT_S} s", link="right", up=False, carrier="lost")
    pings = flow("h1", "h3", protocol="ping", interval="10 ms")
    nodes = dict.fromkeys(("s1", "s2", "s3"), STP)
    text = graph(*RING, pings, cut, nodes=nodes, name="ring", duration="7 s")
    first, second = (here.run(text, *ENGINE) for _ in range(2))
    assert first.verdict == "valid", first.summary["reasons"]
    assert first.packets.equals(second.packets)
    of_flow = first.packets.filter(pl.col("flow") == "f1")
    before = of_flow.filter(pl.col("arrival_ns") < CUT_S * 1e9)["link"].cast(str).unique().to_list()
    assert "right" in before
    # Requests are flooded towards the port that waits; answers come once it forwards.
    mended = of_flow.filter(pl.col("link").cast(str) == "below-reverse")["arrival_ns"].min()
    assert isinstance(mended, int)
    # Twice the forward delay of 2 s, once the port knows; a hello comes each second.
    assert 4.0 <= mended / 1e9 - CUT_S <= 5.2


def test_vlans_that_the_kernel_lacks_are_refused_by_key(here: Place) -> None:
    bridges = {"s1": {"bridge": True}, "s2": {"bridge": True}}
    links = (link("h1", "s1", vlan=10), link("h2", "s2", vlan=10), link("s1", "s2", vlans=[10]))
    done = here.invoke("run", here.write(graph(*links, flow(), nodes=bridges)), *ENGINE)
    assert done.returncode == 2
    assert "topology.links.0.vlan = 10: bridges of the kernel" in done.stderr
    assert "CONFIG_BRIDGE_VLAN_FILTERING" in done.stderr
