"""Flows over IPv6 by the kernel: they are recorded, marked and answered as those over IPv4, beside them."""

from __future__ import annotations

import json
import os
import tomllib

import polars as pl
import pytest
from graphs import flow, graph, link
from harness import Place
from scenarios import checks
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import EMULATE, VIRTUAL

SCENARIO = graph(
    link("h1", "r1"),
    link("h3", "r1"),
    link("r1", "r2", "core", rate="20 Mbit/s", delay="5 ms", buffer="2 bdp", mark="10 %"),
    link("r2", "h2"),
    link("r2", "h4"),
    flow("h1", "h2", id="reno", ip=6, cc="reno", ecn=True),
    flow("h1", "h2", id="cubic", ip=6, ecn=True),
    flow("h3", "h4", id="old"),
    flow("h3", "h4", id="udp", ip=6, protocol="udp", rate="1 Mbit/s", ecn="ect0"),
    flow("h3", "h2", id="icmp", ip=6, protocol="ping", interval="50 ms"),
    flow("h2", "h3", id="echo", ip=6, protocol="ping", echo="udp", interval="50 ms"),
    name="six",
    duration="3 s",
    ipv6=True,
)


def check(run: dumbbell.Run) -> None:
    """Every flow has its packets on the limited link, and was answered."""
    packets = run.packets.filter(pl.col("link") == "core")
    largest = dict(packets.group_by("flow").agg(pl.col("payload_bytes").max()).iter_rows())
    found = {flow: largest[flow] for flow in ("reno", "cubic", "old", "udp", "icmp")}
    assert found == {"reno": 1428, "cubic": 1428, "old": 1448, "udp": 1452, "icmp": 56}
    report = json.loads((run.directory / "traffic.json").read_text())
    flows = {one["id"]: one for one in report["flows"]}
    assert all(one["error"] is None and one["received_bytes"] > 0 for one in flows.values())
    assert flows["udp"]["udp"]["ce_packets"] > 0
    assert flows["icmp"]["ping"]["answered_packets"] > 0
    assert flows["echo"]["ping"]["answered_packets"] > 0


@pytest.mark.parametrize("path", thorough_after(1, ["gso", "wire"]))
def test_flows_of_both_versions_share_a_link(anyone: Place, path: str) -> None:
    check(anyone.run(SCENARIO, f"--set=emulate.path={path}"))


def test_flows_of_both_versions_share_a_link_in_virtual_time(here: Place) -> None:
    check(dumbbell.run(tomllib.loads(SCENARIO), directory=here.directory / "runs", engine=VIRTUAL, report=False))


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="loading congestion controls takes root")


@pytest.mark.parametrize("engine", [pytest.param(EMULATE, marks=[ROOT, pytest.mark.real_time]), VIRTUAL])
@pytest.mark.parametrize("cc", thorough_after(1, ["bbr3", "bbr"]))
def test_bbr_over_ipv6_comes_to_the_rate_of_the_link(here: Place, cc: str, engine: str) -> None:
    """BBRv1 is the kernel's, BBRv3 ours: both are recorded with every ACK."""
    run = here.run(
        graph(
            link("h1", "r1"),
            link("r1", "r2", "core", rate="10 Mbit/s", delay="10 ms", buffer="2 bdp"),
            link("r2", "h2"),
            flow("h1", "h2", ip=6, cc=cc),
            name="bbr6",
            duration="3 s",
            ipv6=True,
        ),
        "--set=record.acks=true",
        "--engine",
        engine,
    )
    found = checks(run)
    assert found["algorithm"]["verdict"] == "valid", found["algorithm"]
    assert run.flows["cc"].item() == cc
    data = run.packets.filter(pl.col("link") == "core")
    assert data["payload_bytes"].max() == 1428
    if engine == VIRTUAL:
        # A second of startup; CUBIC in its first seconds does not come so far.
        assert run.flows["goodput_bps"].item() > 6e6
    assert run.acks is not None
    states = run.acks["bbr_state"].cast(pl.String).drop_nulls().unique().to_list()
    assert {"startup", "drain"} <= set(states), states
