"""Flows over IPv6: their addresses and sizes in the plan, what is refused, and what the simulator makes of them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from drawn import base, planned

import dumbbell
from dumbbell.errors import ScenarioError
from dumbbell.plan import flow_rows, wire
from dumbbell.plan.network import network
from dumbbell.plan.parts import hosts, ipv6_address


def six(*flows: dict[str, Any], **topology: Any) -> dict[str, Any]:
    """The network of `drawn` with IPv6, and flows from h1 to h2."""
    found = base(**{"ipv6": True, **topology})
    found["flows"] = [{"from": "h1", "to": "h2", **one} for one in flows]
    return found


def test_a_plan_names_the_version_only_where_it_is_asked_for() -> None:
    plan = planned(six({}, {"ip": 6}, {"ip": 6, "protocol": "udp", "rate": "1 Mbit/s"}))
    assert [one.get("ip") for one in wire.document(plan)["flows"]] == [None, 6, 6]
    assert plan.flows[2].workload.payload_bytes == 1452
    assert next(ipv6_address(host) for host in hosts(plan)) == "fd00:0:0:1::2"
    assert [row[4] for row in flow_rows.rows(plan)] == [
        "TCP, cubic",
        "TCP, cubic, IPv6",
        "UDP, 1 Mbit/s, 1452 B each, IPv6",
    ]


def test_a_program_gets_addresses_of_its_version() -> None:
    plan = planned(six({"ip": 6, "command": "ping -c1 {server}"}))
    assert plan.flows[0].workload.command == f"ping -c1 {ipv6_address(hosts(plan)[1])}"


@pytest.mark.parametrize(
    ("flow", "topology", "where", "what"),
    [
        ({"ip": 6}, {"ipv6": False}, "flows.0.ip", "h1 has no IPv6 address"),
        ({"ip": 5}, {}, "flows.0.ip", "unknown"),
        ({}, {"mtu": 1000}, "topology.mtu", "too small for IPv6"),
        ({"ip": 6, "protocol": "ping", "payload": "1460 B"}, {}, "flows.0.payload", "too large"),
    ],
)
def test_what_cannot_be_is_refused(flow: dict[str, Any], topology: dict[str, Any], where: str, what: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        planned(six(flow, **topology))
    assert where in str(refused.value)
    assert what in str(refused.value)


def test_a_way_without_ipv6_is_refused() -> None:
    found = six({"ip": 6}, ipv6=False)
    for place, net in ((0, 1), (1, 2), (2, 2), (3, 2)):
        link = found["topology"]["links"][place]
        link["addresses"] = [
            [] if node[0] == "s" else [f"fd00:{net}::{place + 1}{end}/64"] for end, node in enumerate(link["between"])
        ]
    with pytest.raises(ScenarioError, match="r1 and r2, on the way, have no IPv6 subnet in common"):
        planned(found)


@pytest.mark.parametrize("vlan", [{}, {"vlan": 10}])
def test_a_bridge_on_the_way_needs_no_address(vlan: dict[str, int]) -> None:
    found = six({"ip": 6})
    found["topology"]["nodes"]["s1"] = {"kind": "switch", "bridge": True}
    for link in found["topology"]["links"]:
        link |= vlan if "s1" in link["between"] else {}
    plan = planned(found)
    assert [link.to for link in network(plan).there(plan.flows[0])] == ["r1", "r2", "s1", "h2"]


def test_a_dumbbell_has_no_ipv6() -> None:
    found = {
        "name": "d",
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "rtt": "10 ms", "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp"}},
        "flows": [{"from": "s1", "to": "r1", "ip": 6}],
    }
    with pytest.raises(ScenarioError, match="s1 has no IPv6 address"):
        planned(found)


def test_a_segment_carries_20_bytes_less(tmp_path: Path) -> None:
    runs = [dumbbell.run(six({"ip": ip, "bytes": "1 MB"}), engine="simulate", directory=tmp_path) for ip in (4, 6)]
    for run, payload in zip(runs, (1448, 1428), strict=True):
        core = run.packets.filter(pl.col("link") == "core", pl.col("flow") == "f1", pl.col("payload_bytes") > 0)
        assert core["size_bytes"].max() == 1514
        assert core["payload_bytes"].max() == payload
