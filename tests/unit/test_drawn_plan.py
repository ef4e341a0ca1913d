"""Plans of drawn networks: names, addresses, links and paths."""

from collections import Counter
from typing import Any

import pytest
from drawn import base, planned

from dumbbell.plan.network import network
from dumbbell.plan.parts import full_frame
from dumbbell.plan.types import BufferBytes, HostNode, Node, Plan, RouterNode
from dumbbell.plan.view import tables
from dumbbell.plan.wire import document


def node(plan: Plan, name: str) -> HostNode | RouterNode:
    found: Node = next(node for node in plan.nodes if node.name == name)
    assert isinstance(found, HostNode | RouterNode)
    return found


def addresses(plan: Plan) -> dict[str, list[str]]:
    """`node/interface` -> addresses."""
    return {
        f"{name}/{one.name}": list(one.addresses)
        for name in (node.name for node in plan.nodes if isinstance(node, HostNode | RouterNode))
        for one in node(plan, name).interfaces
    }


def routes(plan: Plan, name: str) -> list[str]:
    return [f"{route.to} via {', '.join(route.via)}" for route in node(plan, name).routes]


def test_each_link_and_each_lan_has_a_subnet() -> None:
    plan = planned(base())
    assert addresses(plan) == {
        "h1/eth0": ["10.0.0.2/30"],
        "h2/eth0": ["10.1.0.2/24"],
        "h3/eth0": ["10.1.0.3/24"],
        "r1/eth0": ["10.0.0.1/30"],
        "r1/eth1": ["10.0.0.5/30"],
        "r2/eth0": ["10.1.0.1/24"],
        "r2/eth1": ["10.0.0.6/30"],
    }
    assert [(node(plan, name).address) for name in ("h1", "r1", "r2")] == ["10.0.0.2", "10.255.0.1", "10.255.0.2"]
    macs = [one.mac for name in ("h1", "r1", "r2") for one in node(plan, name).interfaces]
    assert macs == [
        "02:db:00:00:00:00",
        "02:db:00:04:00:00",
        "02:db:00:04:00:01",
        "02:db:00:05:00:00",
        "02:db:00:05:00:01",
    ]


def test_routes_are_of_the_shortest_paths() -> None:
    plan = planned(base())
    assert routes(plan, "h1") == ["0.0.0.0/0 via 10.0.0.1"]
    assert routes(plan, "h3") == ["0.0.0.0/0 via 10.1.0.1"]
    assert "10.1.0.0/24 via 10.0.0.6" in routes(plan, "r1")


def test_ipv6_addresses_where_they_are_asked_for() -> None:
    plan = planned(base(ipv6=True))
    assert addresses(plan)["h1/eth0"] == ["10.0.0.2/30", "fd00:0:0:1::2/64"]
    assert addresses(plan)["h3/eth0"] == ["10.1.0.3/24", "fd00:0:0:2::3/64"]
    assert plan.emulate.path == "wire"


def test_ipv6_subnets_go_round_those_that_are_given() -> None:
    found = base(ipv6=True)
    found["topology"]["links"][4]["addresses"] = ["fd00:0:0:1::9/64", []]
    plan = planned(found)
    assert addresses(plan)["r1/eth1"] == ["10.0.0.5/30", "fd00:0:0:1::9/64"]
    assert addresses(plan)["r2/eth1"] == ["10.0.0.6/30", "fd00:0:0:1::1/64"]
    assert addresses(plan)["h1/eth0"] == ["10.0.0.2/30", "fd00:0:0:4::2/64"]


def test_addresses_that_are_given_stay_and_others_go_round_them() -> None:
    found = base(pools={"lan": "10.2.0.0/16"})
    found["topology"]["nodes"]["h2"] = {"address": "10.2.0.1/24"}
    found["topology"]["links"][4]["addresses"] = ["10.0.0.1/30", ["10.0.0.2/30", "fd00::2/64"]]
    plan = planned(found)
    assert addresses(plan) == {
        "h1/eth0": ["10.0.0.6/30"],
        "h2/eth0": ["10.2.0.1/24"],
        "h3/eth0": ["10.2.0.3/24"],
        "r1/eth0": ["10.0.0.5/30"],
        "r1/eth1": ["10.0.0.1/30"],
        "r2/eth0": ["10.2.0.2/24"],
        "r2/eth1": ["10.0.0.2/30", "fd00::2/64"],
    }


def test_routes_that_are_given_take_the_place_of_the_shortest() -> None:
    found = base()
    found["topology"]["nodes"]["h1"] = {"routes": ["10.1.0.0/24 via 10.0.0.1"]}
    assert routes(planned(found), "h1") == ["10.1.0.0/24 via 10.0.0.1"]


def test_a_router_has_settings() -> None:
    found = base()
    found["topology"]["nodes"]["r1"]["sysctl"] = {"net.ipv4.fib_multipath_hash_policy": 1}
    assert node(planned(found), "r1").sysctl == {"net.ipv4.fib_multipath_hash_policy": "1"}
    assert node(planned(found), "r2").sysctl == {}


def test_a_large_plan_is_shown_in_part() -> None:
    shown = [(table.title, len(table.rows)) for table in tables(planned(star(1500)), 0)]
    assert ("Interfaces, the first 100 of 1,500", 100) in shown


def test_a_large_lan_has_a_large_subnet() -> None:
    plan = planned(star(300))
    assert addresses(plan)["h300/eth0"] == ["10.1.1.44/23"]


def star(size: int, **more: Any) -> dict[str, Any]:
    """A star with a flow."""
    flows = [{"from": "h1", "to": "h2"}]
    return {"name": "x", "duration": "1 s", "topology": {"kind": "star", "size": size, **more}, "flows": flows}


def test_both_directions_have_names_interfaces_and_keys() -> None:
    found = base()
    found["topology"]["links"][4] |= {"cost": 7, "reverse": {"rate": "5 Mbit/s", "delay": "5 ms"}}
    plan = planned(found)
    links = {link.name: link for link in plan.links}
    assert list(links) == [
        *("h1-r1", "r1-h1", "h2-s1", "s1-h2", "h3-s1", "s1-h3", "s1-r2", "r2-s1"),
        *("core", "core-reverse"),
    ]
    core, back, cable = links["core"], links["core-reverse"], links["s1-r2"]
    assert (core.from_, core.from_interface, core.to, core.to_interface) == ("r1", "eth1", "r2", "eth1")
    assert (core.rate_bps, core.delay_ns, core.cost) == (10_000_000, 15_000_000, 7)
    assert (back.from_, back.from_interface, back.rate_bps, back.delay_ns) == ("r2", "eth1", 5_000_000, 5_000_000)
    assert (cable.from_interface, cable.to_interface, cable.rate_bps, cable.buffer) == (None, "eth0", None, "unlimited")
    assert {"core", "core-reverse"} == {link.name for link in plan.links} - network(plan).transparent


def test_several_links_between_two_nodes_have_numbers() -> None:
    found = base()
    found["topology"]["links"] += [{"between": ["r1", "r2"]}, {"between": ["r2", "r1"]}]
    assert [link.name for link in planned(found).links][10:] == ["r1-r2", "r2-r1", "r2-r1-2", "r1-r2-2"]


def test_a_bdp_is_of_the_largest_rtt_of_a_flow_across_the_link() -> None:
    lot: dict[str, Any] = {"kind": "parking-lot", "bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"}}
    flows = [{"from": "s1", "to": "r1"}, {"from": "s0", "to": "r0"}]
    scenario = {"name": "x", "duration": "1 s", "topology": lot, "flows": flows}
    rooms = {link.name: link.buffer for link in planned(scenario).links if link.rate_bps}
    assert set(rooms.values()) == {BufferBytes(bytes=375_000)}
    assert len(rooms) == 6
    # The long flow is gone: the first bottleneck has 10 ms, and the others, which no flow crosses, too.
    rooms = {link.name: link.buffer for link in planned({**scenario, "flows": flows[:1]}).links if link.rate_bps}
    assert set(rooms.values()) == {BufferBytes(bytes=125_000)}


def test_socket_memory_is_of_a_hosts_own_paths() -> None:
    found = base()
    found["topology"]["links"][4] |= {"rate": "1 Gbit/s"}
    sysctl = {name: node(planned(found), name).sysctl["net.ipv4.tcp_rmem"] for name in ("h1", "h2", "h3")}
    assert sysctl["h1"] == sysctl["h2"] == "4096 134217728 134217728"
    assert sysctl["h3"] == "4096 6291456 6291456"


def test_a_share_is_of_the_slowest_link() -> None:
    found = base()
    found["topology"]["links"][0] |= {"rate": "100 Mbit/s"}
    found["flows"] = [{"from": "h1", "to": "h2", "protocol": "udp", "rate": "10 %"}]
    assert document(planned(found))["flows"][0]["workload"]["rate_bps"] == 1_000_000


def test_events_change_any_direction() -> None:
    found = base()
    found["events"] = [{"at": "1 s", "link": "r2-s1", "up": False}, {"at": "1.5 s", "link": "core", "rate": "1 Mbit/s"}]
    plan = planned(found)
    assert [(event.link.name, event.link.up, event.link.to_interface) for event in plan.events] == [
        ("r2-s1", False, None),
        ("core", True, "eth1"),
    ]


def test_the_plan_shows_nodes_interfaces_and_routes() -> None:
    shown = {table.title: table for table in tables(planned(base()), {"core": 30_000_000, "core-reverse": 30_000_000})}
    assert shown["Interfaces"].rows[0] == [
        "h1",
        "host",
        "eth0",
        "10.0.0.2/30",
        "02:db:00:00:00:00",
        "1500 B",
        "h1-r1",
        "r1",
    ]
    assert shown["Routes"].rows[0] == ["h1", "0.0.0.0/0", "10.0.0.1"]
    assert [row[5] for row in shown["Links (and 8 without rate, delay or loss)"].rows] == ["37.5 kB"] * 2


@pytest.mark.parametrize(
    ("topology", "hosts", "switches", "routers", "cables"),
    [
        ({"kind": "star", "size": 5}, 5, 1, 0, 5),
        ({"kind": "linear", "switches": 4}, 4, 4, 0, 7),
        ({"kind": "linear", "switches": 3, "each": 2}, 6, 3, 0, 8),
        ({"kind": "tree", "depth": 2, "fanout": 3}, 9, 4, 0, 12),
        ({"kind": "torus", "rows": 3, "columns": 4}, 12, 0, 0, 36),
        ({"kind": "fat-tree", "k": 4}, 16, 0, 20, 48),
        ({"kind": "parking-lot", "bottlenecks": 4, "bottleneck": {"rate": "1 Mbit/s"}}, 10, 0, 5, 14),
    ],
)
def test_presets(topology: dict[str, Any], hosts: int, switches: int, routers: int, cables: int) -> None:
    ends = {"linear": ("h1", "h2"), "parking-lot": ("s0", "r0")}.get(topology["kind"], ("h1", "h2"))
    if "each" in topology:
        ends = ("h1s1", "h2s3")
    if topology["kind"] == "torus":
        ends = ("h1x1", "h3x4")
    if topology["kind"] == "fat-tree":
        ends = ("h1-1-1", "h4-2-2")
    flows = [{"from": ends[0], "to": ends[1]}]
    plan = planned({"name": "x", "duration": "1 s", "topology": topology, "flows": flows})
    kinds = [type(node).__name__ for node in plan.nodes]
    assert [kinds.count(kind) for kind in ("HostNode", "SwitchNode", "RouterNode")] == [hosts, switches, routers]
    assert len(plan.links) == 2 * cables


@pytest.mark.parametrize("k", [4, 6])
def test_all_cores_of_a_fat_tree_carry_as_many_destinations(k: int) -> None:
    last = f"h{k}-{k // 2}-{k // 2}"
    names = [f"h{pod}-{edge}-{n}" for pod in range(1, k) for edge in range(1, k // 2 + 1) for n in range(1, k // 2 + 1)]
    flows = [{"from": last, "to": name} for name in names]
    plan = planned({"name": "x", "duration": "1 s", "topology": {"kind": "fat-tree", "k": k}, "flows": flows})
    cores = Counter(next(link.to for link in network(plan).there(flow) if link.to[0] == "c") for flow in plan.flows)
    assert len(cores) == (k // 2) ** 2
    assert len(set(cores.values())) == 1


def test_the_long_flow_of_a_parking_lot_crosses_all_bottlenecks() -> None:
    topology = {"kind": "parking-lot", "bottlenecks": 3, "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"}}
    flows = [{"from": f"s{i}", "to": f"r{i}"} for i in range(4)]
    plan = planned({"name": "x", "duration": "1 s", "topology": topology, "flows": flows})
    crossed = [[link.name for link in network(plan).there(flow) if link.rate_bps] for flow in plan.flows]
    assert crossed == [["bottleneck1", "bottleneck2", "bottleneck3"], ["bottleneck1"], ["bottleneck2"], ["bottleneck3"]]


def test_a_link_s_mtu_is_that_of_its_interfaces_and_paths() -> None:
    udp = {"protocol": "udp", "rate": "1 Mbit/s"}
    links = [
        {"between": ["h1", "r1"], "mtu": 9000},
        {"between": ["r1", "h2"], "mtu": 1200, "rate": "10 Mbit/s", "buffer": "0.001 bdp"},
        {"between": ["r1", "h3"], "mtu": 4000},
    ]
    nodes = {"h1": {}, "h2": {}, "h3": {}, "r1": {"kind": "router"}}
    topology = {"kind": "graph", "nodes": nodes, "links": links}
    flows = [{"from": "h1", "to": "h2", **udp}, {"from": "h3", "to": "h1", **udp}]
    plan = planned({"name": "x", "duration": "1 s", "topology": topology, "flows": flows})
    interfaces = {(node.name, one.name): one.mtu for node in plan.nodes for one in getattr(node, "interfaces", ())}
    assert interfaces == {
        ("h1", "eth0"): 9000, ("h2", "eth0"): 1200, ("h3", "eth0"): 4000,
        ("r1", "eth0"): 9000, ("r1", "eth1"): 1200, ("r1", "eth2"): 4000,
    }  # fmt: skip
    assert [network(plan).path(flow).mtu for flow in plan.flows] == [1200, 4000]
    assert [getattr(flow.workload, "payload_bytes", None) for flow in plan.flows] == [1172, 3972]
    narrow = next(link for link in plan.links if link.name == "r1-h2")
    assert narrow.buffer == BufferBytes(bytes=1214)
    assert full_frame(plan, narrow) == 1214
