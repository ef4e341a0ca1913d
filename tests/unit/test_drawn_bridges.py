"""Bridges of Linux in drawn networks: their plans, what follows from their spanning trees and VLANs, and refusals."""

from pathlib import Path
from typing import Any

import pytest
from graphs import event, flow, graph, link
from refused import refused

from dumbbell.engines.registry import engine
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.plan.types import BridgeNode, Plan, Stp, Vlans
from dumbbell.plan.view import tables
from dumbbell.scenario.file import toml
from dumbbell.scenario.file.loading import load

STP = {"bridge": True, "stp": True}
LOOP = (link("h1", "s1"), link("h2", "s2"), link("s1", "s2"), link("s2", "s3"), link("s1", "s3"), flow("h1", "h2"))
NAMES = ("s1", "s2", "s3")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plan(text: str) -> Plan:
    return expand(load(toml.parse(text)))


def bridges(found: Plan) -> dict[str, BridgeNode]:
    return {node.name: node for node in found.nodes if isinstance(node, BridgeNode)}


def loop(*more: str, **keys: Any) -> str:
    """A triangle of bridges with a spanning tree; `keys` of all of them."""
    return graph(*LOOP, *more, nodes={name: {**STP, **keys} for name in NAMES})


def way(found: Plan) -> list[str]:
    return [one.to for one in network(found).there(found.flows[0])]


def test_a_bridge_has_ports_and_no_addresses() -> None:
    found = plan(loop())
    s1 = bridges(found)["s1"]
    assert [port.name for port in s1.interfaces] == ["eth1", "eth2", "eth3"]
    assert all(not port.addresses and port.vlans is None for port in s1.interfaces)
    assert s1.stp == Stp(priority=32768, hello_ns=10**9, forward_delay_ns=2 * 10**9, max_age_ns=6 * 10**9)
    (cable,) = [one for one in found.links if one.name == "s1-s2"]
    assert (cable.from_interface, cable.to_interface) == ("eth2", "eth2")
    assert found.wait is not None
    shown = {table.title: table.rows for table in tables(found, 0)}
    assert shown["Bridges"][0] == ["s1", "3", "priority 32768, hello 1 s, forward delay 2 s, maximum age 6 s"]
    assert ["s1", "bridge", "eth2"] in [row[:3] for row in shown["Interfaces"]]


def test_the_spanning_tree_follows_priorities_and_costs() -> None:
    assert way(plan(loop())) == ["s1", "s2", "h2"]
    nodes = {name: {**STP, **({"priority": 1} if name == "s3" else {})} for name in NAMES}
    assert way(plan(graph(*LOOP, nodes=nodes))) == ["s1", "s3", "s2", "h2"]
    dear = (*LOOP[:2], link("s1", "s2", cost=9), *LOOP[3:])
    assert way(plan(graph(*dear, nodes=dict.fromkeys(NAMES, STP)))) == ["s1", "s3", "s2", "h2"]
    broken = (*LOOP[:2], link("s1", "s2", up=False), *LOOP[3:])
    assert way(plan(graph(*broken, nodes=dict.fromkeys(NAMES, STP)))) == ["s1", "s3", "s2", "h2"]


def test_timers_are_the_network_s_unless_a_bridge_has_its_own() -> None:
    nodes = {**dict.fromkeys(NAMES, STP), "s2": {**STP, "timers": "fast"}}
    found = bridges(plan(graph(*LOOP, nodes=nodes, timers="standard")))
    delays = {name: node.stp.forward_delay_ns // 10**9 for name, node in found.items() if node.stp}
    assert delays == {"s1": 15, "s2": 2, "s3": 15}


TRUNK = (link("h1", "s1", vlan=10), link("h2", "s1", vlan=20), link("h3", "s2", vlan=10), link("h4", "s2", vlan=20))
ROUTED = (link("r1", "s1", vlan=10), link("r1", "s1", vlan=20))
BRIDGES = {"s1": {"bridge": True}, "s2": {"bridge": True}}


def test_a_vlan_is_a_subnet_and_a_router_joins_them() -> None:
    text = graph(*TRUNK, link("s1", "s2", vlans=[10, 20]), *ROUTED, flow("h1", "h3"), flow("h2", "h3"), nodes=BRIDGES)
    found = plan(text)
    assert way(found) == ["s1", "s2", "h3"]
    assert [one.to for one in network(found).there(found.flows[1])] == ["s1", "r1", "s1", "s2", "h3"]
    own = {node.name: node.address.rpartition(".")[0] for node in found.nodes if hasattr(node, "address")}
    assert own["h1"] == own["h3"] != own["h2"] == own["h4"]
    ports = [port.vlans for port in bridges(found)["s1"].interfaces]
    access = [Vlans(untagged=number, tagged=()) for number in (10, 20)]
    assert ports == [*access, Vlans(untagged=None, tagged=(10, 20)), *access]
    assert found.emulate.path == "wire", "bursts carry no tags"
    shown = {table.title: table.rows for table in tables(found, 0)}
    assert shown["VLANs"][2] == ["s1", "eth3", "-", "10, 20"]


def test_a_link_between_bridges_carries_all_vlans_unless_it_says_which() -> None:
    found = plan(graph(*TRUNK, link("h5", "s2"), link("s1", "s2"), flow("h1", "h3"), nodes=BRIDGES))
    ports = bridges(found)["s2"].interfaces
    assert ports[2].vlans == Vlans(untagged=1, tagged=())
    assert ports[3].vlans == Vlans(untagged=1, tagged=(10, 20))


def test_the_simulator_takes_the_tree_s_paths() -> None:
    text = loop(event("1 s", link="h1-s1", up=False))
    assert engine("simulate").check(load(toml.parse(text)), plan(text)) == []
    text = loop(event("1 s", link="s1-s2", down_for="100 ms"))
    (problem,) = engine("simulate").check(load(toml.parse(text)), plan(text))
    assert "a simulated one stays as it is" in problem.text()
    assert problem.key == "events.0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            graph(*LOOP, nodes={"s1": {"stp": True}}),
            "topology.nodes.s1: stp without bridge\n  expected a bridge of Linux\n"
            "hint: write bridge = true, stp = true",
        ),
        (
            graph(*LOOP, nodes={"s1": {"bridge": True, "priority": 1}}),
            "topology.nodes.s1: priority without stp\n  expected a bridge with a spanning tree",
        ),
        (
            graph(*LOOP, nodes={name: {"bridge": True} for name in NAMES}),
            "topology.links.4.between: s1 and s3 close a loop of switches\n"
            "  expected one way between any two switches, or broadcasts would go round for ever\n"
            'hint: leave the link out, or write s1 = { kind = "switch", bridge = true, stp = true }',
        ),
        (
            graph(link("h1", "s1", vlan=10), link("h2", "s1"), flow()),
            "topology.links.0.vlan = 10: neither h1 nor s1 is a bridge\n  expected a link of a bridge\n"
            'hint: write s1 = { kind = "switch", bridge = true }',
        ),
        (
            graph(link("h1", "s1", vlans=[10]), link("h2", "s1"), flow(), nodes={"s1": {"bridge": True}}),
            "topology.links.0.vlans: h1 and s1 are not both bridges\n  expected a link between two bridges\n"
            "hint: write vlan = 10; a router has a link for each VLAN",
        ),
        (
            graph(*TRUNK, link("s1", "s2", vlan=10, vlans=[10, 20]), flow("h1", "h3"), nodes=BRIDGES),
            "topology.links.4.vlans: frames of VLAN 10 have no tag, by vlan, and one, by vlans\n"
            "  expected each VLAN once\nhint: leave 10 out of one of them",
        ),
        (
            graph(link("h1", "s1", vlan=4095), link("h2", "s1"), flow(), nodes={"s1": {"bridge": True}}),
            "topology.links.0.vlan = 4095:",
        ),
        (
            graph(*TRUNK, link("s1", "s2"), flow("h1", "h2"), nodes=BRIDGES),
            'flows.0.to = "h2": no path from h1 to h2 and back',
        ),
        (
            graph(*TRUNK, link("s1", "s2"), flow("h1", "h3"), nodes=BRIDGES) + '\n[emulate]\npath = "gso"\n',
            'emulate.path = "gso": bursts of segments carry no tags of VLANs\n  expected path = "wire"',
        ),
    ],
)
def test_what_no_bridge_can_be_is_refused(text: str, expected: str) -> None:
    assert expected in refused(text)
