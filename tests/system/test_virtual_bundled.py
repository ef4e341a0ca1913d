"""The outcomes of bundled scenarios with routing daemons: the same each time in virtual time, with the same daemons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from harness import Place

import dumbbell
from dumbbell.engines.names import VIRTUAL


def bundled(place: Place, name: str) -> dumbbell.Run:
    """A run of a bundled scenario."""
    done = place.invoke("run", name, "--engine", VIRTUAL, "--quiet", "--no-report")
    assert done.returncode == 0, done.stderr
    return dumbbell.open(place.directory / done.stdout.splitlines()[-1].removesuffix("/report.html"))


def outages(told: Mapping[str, Any]) -> dict[str, float]:
    """Flow -> the longest time without an arrival, s."""
    assert all(one["recovered"] for one in told["outages_s"])
    return {one["flow"]: one["outage_s"] for one in told["outages_s"]}


@pytest.mark.thorough
def test_anycast_leads_to_the_nearest_server_that_is_announced(here: Place) -> None:
    run = bundled(here, "anycast")
    killed, started = run.summary["rerouting"]
    assert (killed["events"], started["events"]) == (["rw bgpd killed"], ["rw bgpd started"])
    assert killed["converged_s"] < 0.2, "the session's end is heard at once"
    assert 1 < started["converged_s"] < 3, "a session is tried each second"
    assert run.pings is not None
    pings = run.pings.with_columns(ms=pl.col("rtt_ns") / 1e6, s=pl.col("time_ns") / 1e9)
    assert pings.filter(pl.col("flow") == "east")["ms"].to_list() == pytest.approx([20] * 300, abs=1)
    west = pings.filter(pl.col("flow") == "west")
    # A request or two lose their answer: it is at a router that has just lost its routes.
    assert west["lost"].sum() <= 2
    answered = west.filter(~pl.col("lost"))
    far = answered.filter(pl.col("s").is_between(5.2, 10 + started["converged_s"] - 0.1))
    near = answered.filter(~pl.col("s").is_between(5, 10 + started["converged_s"] + 0.1))
    assert far.height > 100
    assert near.height > 150
    assert far["ms"].to_list() == pytest.approx([60] * far.height, abs=1)
    assert near["ms"].to_list() == pytest.approx([20] * near.height, abs=1)


def test_isis_goes_round_a_router_whose_daemon_died(here: Place) -> None:
    run = bundled(here, "isis-ring")
    killed, started = run.summary["rerouting"]
    assert (killed["events"], started["events"]) == (["r2 isisd killed"], ["r2 isisd started"])
    # Neighbours wait for three hellos, one a second with some jitter. Packets end at r2 until then.
    assert 2 < killed["converged_s"] < 5
    assert 2 < outages(killed)["f1"] <= killed["converged_s"] + 0.1
    assert killed["lost_packets"] > 0
    # r2 hears of its neighbours before they send packets to it again.
    assert 1 < started["converged_s"] < 5
    assert outages(started)["f1"] < 0.1
    assert busy(run, "r1-r2", 1, 5) > 0.8
    assert busy(run, "r1-r4", 10, 13) > 0.8
    assert busy(run, "r1-r2", 17, 20) > 0.8


@pytest.mark.thorough
def test_customers_of_one_provider_go_by_it_while_their_peering_is_down(here: Place) -> None:
    run = bundled(here, "internet")
    down, up = run.summary["rerouting"]
    assert 2 < down["converged_s"] <= 3.1, "the hold time of the session is 3 s"
    back_s = 4 + down["converged_s"]
    for name, outage_s in outages(down).items():
        assert outage_s > 2
        # A sender waits twice as long after each try (RFC 6298, 5.5): which of them finds the routes back depends on
        # when its last packet arrived. The first does, by the longer way, and ends the outage.
        there = tries(run, name)
        longer = [one for one in there if back_s < one["arrival_ns"] / 1e9 < 12]
        assert len(longer) > 50
        assert {one["link"] for one in longer} == {"transit2-reverse"}
        first = longer[0]
        assert first["fate"] == "delivered"
        before = max(one["delivery_ns"] for one in there if one["fate"] == "delivered" and one["arrival_ns"] < 4e9)
        assert (first["arrival_ns"] - before) / 1e9 == pytest.approx(outage_s, abs=0.1)
    assert busy(run, "peering", 1, 4) > 0.9
    assert busy(run, "peering", 17, 20) > 0.9
    assert busy(run, "transit2-reverse", 17, 20) < 0.01
    assert up["lost_packets"] == 0


@pytest.mark.thorough
def test_flows_of_three_algorithms_survive_a_silent_link(here: Place) -> None:
    run = bundled(here, "ospf-failure")
    down, up = run.summary["rerouting"]
    assert 0.1 <= down["converged_s"] <= 0.2, "BFD misses three packets of 50 ms"
    found = outages(down)
    assert found.keys() == {"reno", "cubic", "bbr"}
    # TCP tries again when its timer expires, at least 200 ms after the last ACK.
    assert all(0.2 < outage < 1 for outage in found.values())
    assert down["lost_packets"] > 0
    assert up["lost_packets"] == 0
    assert busy(run, "first", 7, 10) > 0.8


def tries(run: dumbbell.Run, flow: str) -> list[dict[str, Any]]:
    """A flow's packets with data at the two links out of AS 2, in their order."""
    assert run.packets is not None
    out = pl.col("link").is_in(["peering", "transit2-reverse"])
    return run.packets.filter(pl.col("flow") == flow, out, pl.col("payload_bytes") > 0).sort("arrival_ns").to_dicts()


def busy(run: dumbbell.Run, link: str, from_s: float, to_s: float) -> float:
    """The share of a time in which a link sent packets of flows."""
    assert run.packets is not None
    sent = run.packets.filter(
        pl.col("link") == link, (pl.col("arrival_ns") / 1e9).is_between(from_s, to_s), pl.col("fate") == "delivered"
    )
    (rate,) = {one.rate_bps for one in run.plan.links if one.name == link}
    assert rate is not None
    return sent["size_bytes"].sum() * 8 / rate / (to_s - from_s)  # type: ignore[operator]
