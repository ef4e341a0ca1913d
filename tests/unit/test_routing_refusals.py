"""Keys of routers that cannot be obeyed are refused, each with its router and key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dumbbell.routing.model import Own
from dumbbell.routing.refusals import completed, refusals
from tests.unit.routed import bgp, network

LINE = [("r1", "r2"), ("r2", "r3")]


@pytest.mark.parametrize(
    ("keys", "router", "key", "wrong"),
    [
        ({"r1": {"protocols": ("osfp",)}}, "r1", "routing", "no protocol osfp"),
        ({"r1": {"protocols": ("eigrp",)}}, "r1", "routing", "no configuration of eigrp can be worked out"),
        ({"r1": {"protocols": ("bgp",)}}, "r1", "routing", "BGP without an AS"),
        ({"r1": bgp(1, relations={"r3": "peer"}), "r3": bgp(3)}, "r1", "peers", "r3 is not a neighbour of r1"),
        (
            {"r1": bgp(1, relations={"r2": "peer"}), "r2": bgp(2, relations={"r1": "customer"})},
            "r1",
            "peers",
            "r2 calls r1 its customer",
        ),
        ({"r1": bgp(1, clients=frozenset({"r2"})), "r2": bgp(2)}, "r1", "clients", "r2 is not another router of AS 1"),
        ({"r1": bgp(1), "r3": bgp(1)}, "r1", "routing", "neither a link nor a protocol connects them"),
        ({"r1": {"protocols": ("ospf6",)}}, "r1", "routing", "ospf6 on a router without IPv6 addresses"),
        ({"r1": {"protocols": ("ospf",), "clients": frozenset({"r2"})}}, "r1", "clients", "r1 speaks no BGP"),
        ({"r1": {"protocols": (), "relations": {"r2": "peer"}}}, "r1", "peers", "r1 speaks no BGP"),
    ],
)
def test_each_is_named(keys: Mapping[str, Any], router: str, key: str, wrong: str) -> None:
    all_keys = {name: keys.get(name, {"protocols": ()}) for name in ("r1", "r2", "r3")}
    found = refusals(network(all_keys, LINE))
    assert (found[0].router, found[0].key) == (router, key)
    assert wrong in found[0].wrong


def test_what_can_be_obeyed_is_not_refused() -> None:
    keys = {
        "r1": bgp(1, also=("ospf",), clients=frozenset({"r2"})),
        "r2": bgp(1, also=("ospf",), relations={"r3": "customer"}),
        "r3": {"protocols": ("bgp", "eigrp"), "asn": 3, "own": Own("", "r3.conf")},
    }
    assert refusals(network(keys, LINE)) == []


def test_one_side_is_enough_for_a_relation() -> None:
    three = completed(network({"r1": bgp(1, relations={"r2": "customer"}), "r2": bgp(2), "r3": bgp(3)}, LINE))
    assert [one.relations for one in three.routers] == [{"r2": "customer"}, {"r1": "provider"}, {}]
    assert refusals(three) == []
