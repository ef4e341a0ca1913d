"""Nodes and links added to a lab and removed: the edited scenario, and what the lab keeps. No lab is up here."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from graphs import flow, graph, link

from dumbbell.errors import InputError
from dumbbell.labs import changes, place, rewire, routers, traffic
from dumbbell.labs.build import load, plan_of
from dumbbell.labs.network import Network
from dumbbell.plan import wire

NETWORK = graph(
    link("h1", "s1", rate="10 Mbit/s", delay="5 ms"),
    link("h2", "s1"),
    link("s1", "r1"),
    link("r1", "r2", delay="1 ms"),
    link("r2", "h3"),
    duration=None,
    ipv6=True,
)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a lab whose agent does all that it is asked."""
    monkeypatch.setattr(rewire, "ask", lambda *_: {"event": {"event": "rewired", "refused": []}})
    return up(tmp_path / "lab", NETWORK)


def up(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "scenario.toml").write_text(text)
    plan, planned = plan_of(load(folder / "scenario.toml"))
    (folder / "plan.json").write_text(wire.text(plan))
    (folder / "planned.json").write_text(wire.text(planned))
    (folder / place.SOCKET).touch()
    return folder


def identities(lab: Path) -> dict[Any, Any]:
    """Interfaces and router ids, which stay as they are while other nodes come and go."""
    plan = json.loads((lab / "plan.json").read_text())
    nodes = {node["name"]: node for node in plan["nodes"]}
    found: dict[Any, Any] = {}
    for one in plan["links"]:
        for end in ("from", "to"):
            held = nodes[one[end]].get("interfaces") or []
            found[one["name"], end] = next((i for i in held if i["name"] == one.get(f"{end}_interface")), None)
    return found | {name: node.get("address") for name, node in nodes.items() if node["kind"] == "router"}


def essence(plan: dict[str, Any]) -> dict[str, Any]:
    """A network without MAC addresses and names of interfaces, which a lab of the saved scenario numbers anew."""
    nodes = {}
    for node in plan["nodes"]:
        held = [one["addresses"] for one in node.get("interfaces") or []]
        kept = {key: node.get(key) for key in ("kind", "address", "sysctl")}
        routes = sorted((route["to"], route["via"]) for route in node.get("routes") or [])
        nodes[node["name"]] = {**kept, "addresses": held, "routes": routes}
    links = [{key: one for key, one in link.items() if not key.endswith("_interface")} for link in plan["links"]]
    return {"nodes": nodes, "links": links}


def plan_again(lab: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(wire.text(plan_of(load(lab / "scenario.toml"))[0]))
    return found


def test_a_host_joins_with_its_first_link(lab: Path) -> None:
    before = identities(lab)
    rewire.add_node(lab, "host", "h4", {})
    assert "h4" not in Network.of(lab).nodes
    assert rewire.add_link(lab, ("h4", "s1"), {"rate": "5 Mbit/s", "delay": "2 ms"})[0] == ("h4-s1", "s1-h4")
    network = Network.of(lab)
    assert network.interfaces("h4")[0][0] == "eth0"
    assert network.address("h4").startswith("10.1.0.")
    state = changes.states(lab, ["h4-s1"])["h4-s1"]
    assert (state.rate_bps, state.delay_ns) == (5_000_000, 2_000_000)
    assert before.items() <= identities(lab).items()
    assert rewire.waiting(lab) == {}


def test_addresses_of_others_stay_where_the_planner_would_give_others(lab: Path) -> None:
    """Routers have the first addresses of a subnet, and subnets are counted in the order of links."""
    before = identities(lab)
    rewire.add_node(lab, "router", "r9", {})
    rewire.add_link(lab, ("r9", "s1"), {})
    assert before.items() <= identities(lab).items()
    rewire.remove_node(lab, "h2")
    after = identities(lab)
    assert {key: one for key, one in before.items() if "h2" not in str(key)}.items() <= after.items()
    assert essence(plan_again(lab)) == essence(json.loads((lab / "plan.json").read_text()))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_and_goes_the_scenario_gives_the_same_network(lab: Path, seed: int) -> None:
    random, refused = Random(seed), list[str]()
    for step in range(12):
        before = identities(lab)
        plan = json.loads((lab / "plan.json").read_text())
        nodes = [node["name"] for node in plan["nodes"]]
        what = random.choice(["node", "link", "less", "gone"])
        try:
            if what == "node":
                kind = random.choice(["host", "switch", "router"])
                rewire.add_node(lab, kind, f"n{step}", {})
                rewire.add_link(lab, (f"n{step}", random.choice(nodes)), {"delay": f"{step} ms"})
            elif what == "link":
                rewire.add_link(lab, random.sample(nodes, 2), {})
            elif what == "less":
                rewire.remove_link(lab, [random.choice(plan["links"])["name"]])
            else:
                rewire.remove_node(lab, random.choice(nodes))
        except InputError as error:
            refused.append(error.what)
            assert identities(lab) == before
            continue
        after = identities(lab)
        assert all(after[key] == before[key] for key in before.keys() & after.keys())
        macs = [i["mac"] for key, i in after.items() if isinstance(i, dict) and key[1] == "from"]
        assert len(macs) == len(set(macs))
    assert all(what.startswith("cannot") for what in refused)
    assert essence(plan_again(lab)) == essence(json.loads((lab / "plan.json").read_text()))


def test_what_is_bad_is_refused_with_the_reason(lab: Path) -> None:
    before = (lab / "plan.json").read_text()
    with pytest.raises(InputError, match="another node has this name"):
        rewire.add_node(lab, "host", "h1", {})
    with pytest.raises(InputError, match="there is no node h9"):
        rewire.add_link(lab, ("h9", "s1"), {})
    rewire.add_node(lab, "host", "h8", {"address": f"{Network.of(lab).address('h1')}/24"})
    with pytest.raises(InputError, match="the same address"):
        rewire.add_link(lab, ("h8", "s1"), {})
    with pytest.raises(InputError, match="no link leads to h3"):
        rewire.remove_link(lab, ("r2", "h3"))
    with pytest.raises(InputError, match="unknown key"):
        rewire.add_node(lab, "host", "h7", {"colour": "red"})
    with pytest.raises(InputError, match="no node h0"):
        rewire.remove_node(lab, "h0")
    assert (lab / "plan.json").read_text() == before


def test_a_node_that_a_flow_uses_stays(tmp_path: Path) -> None:
    lab = up(tmp_path / "flows", f"{graph(link('h1', 's1'), link('h2', 's1'), flow('h1', 'h2'))}")
    with pytest.raises(InputError, match="flow f1 of the scenario uses it"):
        rewire.remove_node(lab, "h2")


def test_journals_forget_what_is_removed(lab: Path) -> None:
    after = json.loads((lab / "plan.json").read_text())["links"]
    lines = [{"time_ns": 1, "link": one["name"], "keys": {"up": "false"}, "after": one} for one in after]
    (lab / changes.FILE).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    flows = [traffic.tcp("h1", "h2", "reno"), traffic.tcp("h1", "h3", "reno")]
    (lab / traffic.FILE).write_text("".join(f"{json.dumps({'time_ns': 1, 'flows': [one]})}\n" for one in flows))
    rewire.remove_node(lab, "h2")
    assert {one.link for one in changes.changes(lab)} == {one["name"] for one in after} - {"h2-s1", "s1-h2"}
    assert len((lab / traffic.FILE).read_text().splitlines()) == 1


def test_configurations_name_the_interfaces_that_a_lab_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new lab would number r1's interfaces anew once one is gone; a configuration of the user's own stays."""
    configured: list[dict[str, Any]] = []
    monkeypatch.setattr(rewire, "ask", lambda *_: {"event": {"event": "rewired", "refused": []}})
    monkeypatch.setattr(routers, "configure", lambda _lab, _before, after: configured.append(after) or [])
    links = (link("h1", "r1"), link("r1", "r2", "a"), link("r1", "r2", "b"), link("r2", "h2"))
    (tmp_path / "r2.conf").write_text("interface eth1\n ip ospf area 0\n")
    nodes = {"r2": {"kind": "router", "routing": ["ospf"], "frr": "../r2.conf"}}
    lab = up(tmp_path / "lab", graph(*links, duration=None, routing=["rip", "ospf"], nodes=nodes))
    assert rewire.remove_link(lab, ("a",)) == [
        "r2: eth0 is gone; its configuration is yours, and stays as it is: r2 vtysh"
    ]
    planned = {node["name"]: node for node in configured[0]["nodes"]}
    assert [one["name"] for one in planned["r1"]["interfaces"]] == ["eth0", "eth2"]
    config = planned["r1"]["routing"]["config"]
    assert "interface eth2" in config
    assert " network eth2" in config
    assert "eth1" not in config
    assert planned["r2"]["routing"]["config"].startswith("interface eth1")


def test_a_difference_is_lines_of_the_shell() -> None:
    """The last command is taken back first; blocks are entered and left."""
    before = "router bgp 1\n neighbor 10.0.0.2 remote-as 2\n address-family ipv4 unicast\n  network 10.1.0.0/24\n"
    after = "router bgp 1\ninterface eth1\n ip ospf area 0\n ip ospf cost 1\nexit\n"
    removed, added = routers.difference(before, after)
    assert routers.undone(removed) == [
        "router bgp 1", "address-family ipv4 unicast", "no network 10.1.0.0/24", "exit", "exit",
        "router bgp 1", "no address-family ipv4 unicast", "no neighbor 10.0.0.2 remote-as 2", "exit",
    ]  # fmt: skip
    assert routers.done(added) == ["interface eth1", "interface eth1", "ip ospf area 0", "ip ospf cost 1", "exit"]
    assert routers.difference(after, after) == ([], [])
