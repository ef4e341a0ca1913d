"""Configurations of routing daemons follow from the network; FRR's own check of them is in tests/system."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from dumbbell.routing import configurations
from dumbbell.routing.model import Network, Own
from dumbbell.routing.protocols.isis import net
from dumbbell.routing.registry import DAEMONS, GENERATED
from tests.unit.routed import bgp, network

TRIANGLE = (("r1", "r2"), ("r2", "r3"), ("r1", "r3"))


def igp(protocol: str, **keys: Any) -> dict[str, Any]:
    return {"protocols": (protocol,)} | keys


def expected(of: Network) -> dict[str, set[str]]:
    return {name: set(map(str, one.expect)) for name, one in configurations(of).items()}


def lines(of: Network, router: str) -> list[str]:
    return [line.strip() for line in configurations(of)[router].text.splitlines()]


def test_two_autonomous_systems_need_no_more_than_their_numbers() -> None:
    two = network({"r1": bgp(100), "r2": bgp(200)}, [("r1", "r2")], ["r1", "r2"])
    said = lines(two, "r1")
    for line in ("router bgp 100", "neighbor 10.0.1.2 remote-as 200", "network 10.1.1.0/24", "timers bgp 1 3"):
        assert line in said
    assert "network 10.0.1.0/24" not in said  # Nobody asks for the link between them.
    assert expected(two) == {"r1": {"10.1.2.0/24"}, "r2": {"10.1.1.0/24"}}
    assert configurations(two)["r1"].daemons == ("bgpd",)


def test_standard_timers_are_those_of_frr() -> None:
    slow = network({name: bgp(asn, timers="standard") for name, asn in (("r1", 1), ("r2", 2))}, [("r1", "r2")])
    assert not [line for line in lines(slow, "r1") if "timers" in line or "interval" in line]
    slow = network({name: igp("ospf", timers="standard") for name in ("r1", "r2", "r3")}, TRIANGLE)
    assert not [line for line in lines(slow, "r1") if "timers" in line or "interval" in line]


@pytest.mark.parametrize("protocol", ["ospf", "rip", "isis"])
def test_inside_an_as_every_router_learns_every_subnet_and_loopback(protocol: str) -> None:
    three = network({name: igp(protocol) for name in ("r1", "r2", "r3")}, TRIANGLE, ["r1", "r3"])
    found = expected(three)
    assert {"10.0.2.0/24", "10.1.2.0/24"} <= found["r1"]
    assert not found["r1"] & {"10.0.1.0/24", "10.1.1.0/24", "10.255.0.1/32"}  # Its own.
    assert "10.255.0.3/32" in found["r1"]


def test_a_router_that_nobody_can_tell_expects_nothing() -> None:
    apart = network({name: igp("ospf") for name in ("r1", "r2", "r3")}, [("r1", "r2")], ["r3"])
    assert expected(apart) == {"r1": {"10.255.0.2/32"}, "r2": {"10.255.0.1/32"}, "r3": set()}


def test_ipv6_has_its_own_protocols() -> None:
    both = network({name: {"protocols": ("ospf", "ospf6")} for name in ("r1", "r2", "r3")}, TRIANGLE, ["r3"], ipv6=True)
    assert {"fd00:0:1:1::/64", "10.1.1.0/24"} <= expected(both)["r1"]
    assert configurations(both)["r1"].daemons == ("ospfd", "ospf6d")


def test_two_routers_on_a_link_elect_none_and_hosts_hear_no_hellos() -> None:
    three = network({name: igp("ospf") for name in ("r1", "r2", "r3")}, TRIANGLE, ["r1"], costs={("r1", "r3"): 7})
    said = configurations(three)["r1"].text
    lan = said.split("interface eth2\n")[1].split("exit")[0]
    assert "passive" in lan
    assert "point-to-point" not in lan
    link = said.split("interface eth1\n")[1].split("exit")[0]
    assert "ip ospf network point-to-point" in link
    assert "ip ospf cost 7" in link


def test_an_interior_protocol_does_not_cross_to_another_as() -> None:
    keys = {"r1": bgp(1, also=("ospf",)), "r2": bgp(1, also=("ospf",)), "r3": bgp(2, also=("ospf",))}
    three = network(keys, [("r1", "r2"), ("r2", "r3")], ["r1", "r3"])
    ospf = configurations(three)["r2"].text.split("router ospf")[0]
    assert "interface eth0" in ospf
    assert "interface eth1" not in ospf
    # The router inside hears by BGP what the one at the border knows.
    assert "10.1.2.0/24" in expected(three)["r1"]
    assert "neighbor 10.255.0.2 update-source lo" in lines(three, "r1")


def test_what_is_not_paid_for_is_not_passed_on() -> None:
    """A customer of two providers carries no traffic between them; two peers of one provider reach each other."""
    keys = {
        "r1": bgp(1, relations={"r2": "customer"}),
        "r2": bgp(2, relations={"r1": "provider", "r3": "provider"}),
        "r3": bgp(3, relations={"r2": "customer"}),
    }
    three = network(keys, [("r1", "r2"), ("r2", "r3")], ["r1", "r2", "r3"])
    assert expected(three) == {"r1": {"10.1.2.0/24"}, "r2": {"10.1.1.0/24", "10.1.3.0/24"}, "r3": {"10.1.2.0/24"}}
    up = {
        "r1": bgp(1, relations={"r2": "provider"}),
        "r2": bgp(2, relations={"r1": "customer", "r3": "customer"}),
        "r3": bgp(3, relations={"r2": "provider"}),
    }
    three = network(up, [("r1", "r2"), ("r2", "r3")], ["r1", "r3"])
    assert expected(three)["r1"] == {"10.1.2.0/24"}


def test_inside_an_as_a_reflector_replaces_the_mesh() -> None:
    links = [("r1", "r2"), ("r2", "r3"), ("r3", "r4")]
    keys = {name: bgp(1, also=("ospf",)) for name in ("r1", "r2", "r3")} | {"r4": bgp(2)}
    mesh = network(keys, links, ["r4"])
    assert "neighbor 10.255.0.3 remote-as 1" in lines(mesh, "r1")
    keys["r2"] = bgp(1, also=("ospf",), clients=frozenset({"r1", "r3"}))
    reflected = network(keys, links, ["r4"])
    assert "neighbor 10.255.0.3 remote-as 1" not in lines(reflected, "r1")
    assert "neighbor 10.255.0.1 route-reflector-client" in lines(reflected, "r2")
    assert expected(reflected)["r1"] >= {"10.1.1.0/24"}


def test_routes_of_an_as_do_not_come_back_to_it() -> None:
    ring = network({f"r{i}": bgp(i) for i in (1, 2, 3)}, TRIANGLE, ["r1"])
    assert expected(ring) == {"r1": set(), "r2": {"10.1.1.0/24"}, "r3": {"10.1.1.0/24"}}


def test_given_networks_replace_those_that_follow() -> None:
    anycast = {"networks": (ip_network("192.0.2.0/24"),)}
    three = network({"r1": bgp(1, **anycast), "r2": bgp(2), "r3": bgp(3, **anycast)}, TRIANGLE, ["r1"])
    assert expected(three)["r2"] == {"192.0.2.0/24"}


def test_bfd_watches_the_neighbours_of_the_others() -> None:
    keys = {name: {"protocols": ("ospf", "bfd")} for name in ("r1", "r2", "r3")}
    said = lines(network(keys, TRIANGLE, ["r1"]), "r1")
    assert said.count("ip ospf bfd") == 2
    assert {"bfd", "profile lab", "transmit-interval 50"} <= set(said)


def test_a_text_of_the_users_own_is_left_alone() -> None:
    own = Own("router eigrp 1\n network 10.0.0.0/8\n", "r2.conf")
    keys = {"r1": igp("ospf"), "r2": {"protocols": ("eigrp", "ospf"), "own": own}, "r3": igp("ospf")}
    found = configurations(network(keys, [("r1", "r2"), ("r2", "r3")], ["r3"]))
    assert found["r2"].text == own.text
    assert found["r2"].daemons == ("staticd", "ospfd", "eigrpd")
    # Nobody knows what it passes on.
    assert found["r1"].expect == ()


def test_an_id_becomes_an_address_of_the_network_layer() -> None:
    (one,) = network({"r1": igp("isis")}, []).routers
    assert net(one.id) == "49.0001.0102.5500.0001.00"


def test_each_protocol_names_its_daemon() -> None:
    assert all(DAEMONS[name] == protocol.daemon for name, protocol in GENERATED.items())
    assert {"eigrp", "pim", "ldp", "vrrp", "pbr"} <= set(DAEMONS)
