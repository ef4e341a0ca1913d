"""Cables that are pulled and daemons that are killed, in virtual time: what routers hear of it, and when."""

from __future__ import annotations

import polars as pl
import pytest
from graphs import event, flow, graph, link
from harness import Place

import dumbbell
from dumbbell.engines.names import SIMULATE, VIRTUAL

ENGINE = ("--engine", VIRTUAL, "--no-report")
ROUTERS = {name: {"routing": ["ospf"]} for name in ("r1", "r2", "r3")}


def triangle(*events: str, seconds: float) -> str:
    """Three routers with OSPF, without BFD, and a flow of datagrams over the link between two of them."""
    return graph(
        link("h1", "r1"),
        link("h2", "r2"),
        link("r1", "r2", "core", delay="2 ms"),
        link("r2", "r3"),
        link("r1", "r3", delay="1 ms"),
        flow("h1", "h2", protocol="udp", rate="1 Mbit/s"),
        *events,
        nodes=ROUTERS,
        duration=f"{seconds} s",
    )


def links_over_time(run: dumbbell.Run) -> list[str]:
    """The links that r1 sends the flow's datagrams to, in turn."""
    assert run.packets is not None
    sent = run.packets.filter(pl.col("link").is_in(["core", "r1-r3"]), pl.col("flow") == "f1").sort("arrival_ns")
    return sent["link"].cast(pl.String).rle().struct.field("value").to_list()


def test_routers_leave_a_pulled_cable_at_once_and_come_back(here: Place) -> None:
    pulled = [event("4 s", link=one, down_for="3 s", carrier="lost") for one in ("core", "core-reverse")]
    run = here.run(triangle(*pulled, seconds=12), *ENGINE)
    assert run.verdict == "valid", run.summary["reasons"]
    down, up = run.summary["rerouting"]
    # Nobody waits for hellos, of which three would have to be missed, one a second.
    assert down["converged_s"] < 0.1
    (outage,) = down["outages_s"]
    assert outage["recovered"]
    assert outage["outage_s"] < 0.1
    # A neighbour is known by its hellos, one a second, and its database is read before it is used.
    assert 0 < up["converged_s"] < 4
    assert up["lost_packets"] == 0
    assert links_over_time(run) == ["core", "r1-r3", "core"]


@pytest.mark.thorough
def test_a_router_whose_daemon_dies_loses_its_routes_and_gets_them_back(here: Place) -> None:
    dead = event("2 s", router="r1", daemon="ospfd", down_for="3 s")
    run = here.run(triangle(dead, seconds=10), *ENGINE)
    assert run.verdict == "valid", run.summary["reasons"]
    killed, started = run.summary["rerouting"]
    assert (killed["events"], started["events"]) == (["r1 ospfd killed"], ["r1 ospfd started"])
    assert run.routes is not None
    own = run.routes.filter(pl.col("router") == "r1", pl.col("protocol") == "ospf", pl.col("time_ns") > 0)
    lost = own.filter(pl.col("change") == "removed")
    # Zebra takes the routes of a daemon out as soon as that is gone.
    assert lost["time_ns"].max() < 2.1e9  # type: ignore[operator]
    back = own.filter(pl.col("time_ns") > 5e9, pl.col("change") == "added")
    assert set(back["prefix"]) == set(lost["prefix"])
    (outage,) = killed["outages_s"]
    assert outage["recovered"]
    assert 3 < outage["outage_s"] < 3 + started["converged_s"] + 0.1


def test_static_routes_stay_on_a_pulled_cable_which_loses_what_is_on_its_way(here: Place) -> None:
    """A link without carrier is one that is down, but for the packets on it: if it is silent, these arrive.

    So it is for the kernel, and for the simulator.
    """

    def arrived(carrier: str, engine: str) -> list[int]:
        """The datagrams that r2 hands on before the link is up again, and afterwards."""
        events = [event("1 s", link=one, down_for="1 s", carrier=carrier) for one in ("core", "core-reverse")]
        text = graph(
            link("h1", "r1"),
            link("r1", "r2", "core", delay="50 ms"),
            link("r2", "h2", delay="1 ms"),
            flow("h1", "h2", protocol="udp", rate="1 Mbit/s"),
            *events,
            duration="3 s",
        )
        run = here.run(text, "--engine", engine, "--no-report")
        assert run.verdict == "valid", run.summary["reasons"]
        assert run.packets is not None
        assert run.routes is None
        there = run.packets.filter(pl.col("link") == "r2-h2", pl.col("flow") == "f1")
        return [there.filter((pl.col("arrival_ns") < 2e9) == before).height for before in (True, False)]

    kept, lost = arrived("kept", VIRTUAL), arrived("lost", VIRTUAL)
    assert [arrived("kept", SIMULATE), arrived("lost", SIMULATE)] == [kept, lost]
    # There is a datagram every 12.1 ms, and the link takes 50 ms.
    assert kept[0] - lost[0] in (4, 5)
    assert kept[1] == lost[1]
    assert kept[1] > 70
