"""Routing daemons in virtual time: the times of their changes are exact, whatever else the machine does."""

from __future__ import annotations

import polars as pl
import pytest
from graphs import event, flow, graph, link
from harness import Place
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import VIRTUAL

ENGINE = ("--engine", VIRTUAL)
CUT_S = 4.0
"""By then BFD is up: its first packets come each second."""


def triangle(*daemons: str, seconds: float, **keys: str) -> str:
    """Three routers, of which the link between two falls silent."""
    return graph(
        link("h1", "r1"),
        link("h2", "r2"),
        link("r1", "r2", "core", delay="2 ms"),
        link("r2", "r3"),
        link("r1", "r3", delay="1 ms"),
        flow("h1", "h2", protocol="udp", rate="100 kbit/s"),
        event(f"{CUT_S} s", link="core", up=False),
        event(f"{CUT_S} s", link="core-reverse", up=False),
        nodes={name: {"routing": daemons, **keys} for name in ("r1", "r2", "r3")},
        duration=f"{seconds} s",
        wait="2 min",
    )


def outage_s(run: dumbbell.Run) -> float:
    """The longest time between two datagrams of the flow that crossed one of the two links to the second host."""
    assert run.packets is not None
    there = run.packets.filter(pl.col("link").is_in(["core", "r1-r3"]), pl.col("flow") == "f1")
    sent = there["sent_ns"].drop_nulls().sort()
    assert sent[-1] > 1e9 * (CUT_S + 0.1), "the flow goes on by the other way"
    return sent.diff().max() / 1e9  # type: ignore[operator]


def rerouted_s(run: dumbbell.Run, router: str, not_before_s: float = 0) -> float:
    """The time from the cut to the first change of a route, but for changes so soon after it."""
    assert run.routes is not None
    changes = run.routes.filter(pl.col("router") == router, pl.col("time_ns") > 1e9 * (CUT_S + not_before_s))
    return changes["time_ns"].min() / 1e9 - CUT_S  # type: ignore[operator]


@pytest.mark.parametrize("protocol", thorough_after(1, ["ospf", "isis"]))
def test_bfd_notices_a_silent_link_after_three_of_its_intervals(here: Place, protocol: str) -> None:
    run = here.run(triangle(protocol, "bfd", seconds=6), *ENGINE)
    assert run.verdict == "valid", run.summary["reasons"]
    # The last of its packets, sent each 37.5 to 50 ms, came by the cut or 50 ms earlier.
    for router in ("r1", "r2"):
        assert 0.1 <= rerouted_s(run, router) <= 0.2
    assert 0.1 <= outage_s(run) <= 0.4
    (told,) = run.summary["rerouting"]
    (outage,) = told["outages_s"]
    assert (told["events"], outage["flow"], outage["recovered"]) == (["core down", "core-reverse down"], "f1", True)
    assert outage["outage_s"] == pytest.approx(outage_s(run), abs=0.01)
    assert told["lost_packets"] > 0


def test_the_protocols_own_timers_cost_little_time(here: Place) -> None:
    run = here.run(triangle("ospf", seconds=48, timers="standard"), *ENGINE)
    assert run.routes is not None
    # A router is dead 40 s after its last hello; one comes each 10 s. What the others told just before the cut changes
    # routes some seconds later: OSPF waits 5 s between two LSAs of one origin.
    for router in ("r1", "r2"):
        assert 30 <= rerouted_s(run, router, not_before_s=6) <= 41
    assert 30 <= outage_s(run) <= 42


def test_what_never_converges_fails_and_says_what_is_missing(here: Place) -> None:
    text = triangle("ospf", seconds=5).replace('delay = "2 ms"', 'loss = "100 %"')
    text = text.replace('delay = "1 ms"', 'loss = "100 %"').replace('"2 min"', '"20 s"')
    done = here.invoke("run", here.write(text), *ENGINE, "--quiet")
    assert done.returncode == 1
    assert "routing has not converged within 20 s: r1 has no route to" in done.stderr.replace("\n  ", ": ")
