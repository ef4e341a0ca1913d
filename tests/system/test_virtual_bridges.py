"""Bridges of Linux in virtual time: a spanning tree that is the same each time, and what a kernel lacks."""

from __future__ import annotations

import polars as pl
from graphs import VLANS, event, flow, graph, link, program
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


def test_flows_are_known_behind_the_tags_of_vlans(here: Place) -> None:
    first, second = (here.run(VLANS, *ENGINE) for _ in range(2))
    assert first.flows["received_bytes"].to_list() == [200_000, 200_000]
    assert first.packets is not None
    assert first.packets.equals(second.packets)
    trunk = first.packets.filter(pl.col("link").cast(str) == "trunk")
    assert set(trunk["flow"].cast(str)) == {"same", "routed"}
    assert trunk["size_bytes"].max() == 1514 + 4, "a tag is part of a frame"


def test_a_vlan_keeps_hosts_apart(here: Place) -> None:
    """By hand in one subnet: ARP asks, and only who is in the same VLAN hears it."""
    ping = "ip address add 10.9.0.1/24 dev eth0; for i in 2 3; do ping -c1 -W1 10.9.0.$i; done; true"
    own = (program(f"h{n}", f"ip address add 10.9.0.{n}/24 dev eth0", name=f"own{n}") for n in (2, 3))
    run = here.run("\n".join([VLANS, *own, program("h1", ping, name="pings")]), *ENGINE)
    said = "".join(file.read_text() for file in (run.directory / "logs").rglob("pings*"))
    answered = [f"1 packets transmitted, {count} received" in said for count in (0, 1)]
    assert answered == [True, True], said
    assert "64 bytes from 10.9.0.3" in said
