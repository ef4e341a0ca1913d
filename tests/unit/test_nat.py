"""A router with `nat` opens a way to this machine's network: only in labs, and only if the user agrees."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from graphs import flow, graph, link

from dumbbell.engines.realm import outside
from dumbbell.engines.registry import engine, names
from dumbbell.errors import InputError, ScenarioError
from dumbbell.labs.build import LabScenario
from dumbbell.labs.outside import check_agreed, ways
from dumbbell.plan.expand import expand
from dumbbell.plan.types import HostNode, RouterNode
from dumbbell.plan.view import tables
from dumbbell.scenario.file.loading import checked, load, read
from dumbbell.scenario.file.started import only, started

WAY = "this lab reaches this machine's network through r1"
LINKS = (link("h1", "r1"), link("r1", "r2"), link("r2", "h2"))


def scenario(*, nodes: dict[str, Any] | None = None, **topology: Any) -> dict[str, Any]:
    """Two routers with a host each; the first one has `nat`."""
    nodes = {"r1": {"nat": True}} if nodes is None else nodes
    return tomllib.loads(graph(*LINKS, flow("h1", "h2"), nodes=nodes, **topology))


def lab(keys: dict[str, Any]) -> LabScenario:
    found = checked(read(keys), LabScenario)
    assert isinstance(found, LabScenario)
    return found


@pytest.mark.parametrize("name", names())
def test_no_run_reaches_the_machines_network(name: str) -> None:
    found = load(scenario())
    (first, *_) = engine(name).check(found, expand(found))
    assert first.key == "topology.nodes.r1.nat"
    assert "a run depends on its plan alone" in str(first)
    assert "dumbbell lab up" in first.hint


def test_a_lab_opens_a_way_only_if_the_user_agrees() -> None:
    found = lab(scenario())
    assert ways(found) == list(started(found)) == [WAY]
    with pytest.raises(InputError, match="opens a way that you have not agreed to") as caught:
        check_agreed(found, agree=False)
    assert WAY in str(caught.value)
    check_agreed(found, agree=True)
    with only([WAY]):
        check_agreed(found, agree=False)
    with only([WAY.replace("r1", "r2")]), pytest.raises(InputError, match="starts another program"):
        lab(scenario())
    closed = lab(scenario(nodes={"r1": {"nat": False}}))
    assert ways(closed) == list(started(closed)) == []
    check_agreed(closed, agree=False)


def test_what_a_way_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lab(scenario())
    monkeypatch.setenv("PATH", "")
    (problem,) = outside.check_outside(found, expand(found))
    assert "this machine lacks slirp4netns" in str(problem)
    assert problem.hint == "sudo apt-get install slirp4netns"
    closed = lab(scenario(nodes={}))
    assert not list(outside.check_outside(closed, expand(closed)))


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ({"r1": {"nat": True}, "r2": {"nat": True}}, "r1 leads to this machine's network, too"),
        ({"r1": {"nat": True, "routes": ["default via 10.0.0.5"]}}, "nat with a default route"),
        ({"h1": {"nat": True}}, "nat"),
    ],
)
def test_what_cannot_be_is_refused(nodes: dict[str, Any], why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        load(scenario(nodes=nodes))


def test_all_others_have_a_default_route_to_it() -> None:
    plan = expand(load(scenario()))
    routes = {
        node.name: {route.to: route.via for route in node.routes}
        for node in plan.nodes
        if isinstance(node, HostNode | RouterNode)
    }
    assert {name: found.get("0.0.0.0/0") for name, found in routes.items()} == {
        "h1": ("10.0.0.1",), "r1": None, "r2": ("10.0.0.5",), "h2": ("10.0.0.9",)
    }  # fmt: skip
    assert ["nat", "r1"] in tables(plan, 0)[0].rows
    assert not any(row[0] == "nat" for row in tables(expand(load(scenario(nodes={}))), 0)[0].rows)


@pytest.mark.parametrize(
    ("protocol", "line"),
    [
        ("ospf", " default-information originate"),
        ("rip", " default-information originate"),
        ("isis", " default-information originate ipv4 level-2"),
        ("bgp", "  network 0.0.0.0/0"),
    ],
)
def test_routing_daemons_announce_it(protocol: str, line: str) -> None:
    nodes = {"r1": {"nat": True, "asn": 64512}, "r2": {"asn": 64513 if protocol == "bgp" else 64512}}
    plan = expand(load(scenario(nodes=nodes, routing=[protocol])))
    routers = {node.name: node.routing for node in plan.nodes if isinstance(node, RouterNode)}
    assert routers["r1"] is not None
    assert routers["r2"] is not None
    assert line in routers["r1"].config.splitlines()
    assert line not in routers["r2"].config.splitlines()
    # Time 0 waits for the route.
    assert ("0.0.0.0/0" in routers["r1"].expect, "0.0.0.0/0" in routers["r2"].expect) == (False, True)


def test_a_closed_network_announces_nothing() -> None:
    nodes = expand(load(scenario(nodes={}, routing=["ospf"]))).nodes
    texts = [node.routing.config for node in nodes if isinstance(node, RouterNode) and node.routing]
    assert len(texts) == 2
    assert not any("default-information" in text for text in texts)
