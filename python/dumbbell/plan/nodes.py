"""The plan's nodes: hosts, switches, bridges and routers, with their interfaces and routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dumbbell.core import core
from dumbbell.plan import wire
from dumbbell.plan.types import (
    BridgeNode,
    HostNode,
    Interface,
    Node,
    Plan,
    Route,
    RouterNode,
    Routing,
    Stp,
    SwitchNode,
    Vlans,
)
from dumbbell.scenario.resolve.outline import NetworkNode, NodeInterface


def planned(nodes: Sequence[NetworkNode], sysctls: Mapping[str, Mapping[str, str]]) -> tuple[Node, ...]:
    """The nodes without the routes of shortest paths.

    Args:
        nodes: of the network.
        sysctls: of each host; a router has its own.
    """
    return tuple(_node(node, sysctls.get(node.name, node.sysctl)) for node in nodes)


def _node(node: NetworkNode, sysctl: Mapping[str, str]) -> Node:
    if node.kind == "switch":
        return SwitchNode(name=node.name)
    interfaces = tuple(
        Interface(name=i.name, mac=i.mac, addresses=i.addresses, mtu=i.mtu, vlans=_vlans(i)) for i in node.interfaces
    )
    if node.kind == "bridge":
        return BridgeNode(name=node.name, interfaces=interfaces, stp=_stp(node))
    keys: dict[str, Any] = {
        "name": node.name,
        "address": node.address,
        "sysctl": sysctl,
        "interfaces": interfaces,
        "routes": tuple(Route(to=route.to, via=route.via) for route in node.routes or ()),
        "private": node.private,
        "cpus": node.cpus,
        "cpu_ppm": node.cpu_ppm,
    }
    return HostNode(**keys) if node.kind == "host" else RouterNode(**keys, routing=_routing(node), nat=node.nat)


def _vlans(interface: NodeInterface) -> Vlans | None:
    found = interface.vlans
    return None if found is None else Vlans(untagged=found.untagged, tagged=found.tagged)


def _stp(node: NetworkNode) -> Stp | None:
    found = node.stp
    if found is None:
        return None
    times = {"hello_ns": found.hello, "forward_delay_ns": found.forward_delay, "max_age_ns": found.max_age}
    return Stp(priority=found.priority, **{key: int(time) for key, time in times.items()})


def _routing(node: NetworkNode) -> Routing | None:
    found = node.routing
    if found is None:
        return None
    return Routing(config=found.text, daemons=found.daemons, expect=tuple(map(str, found.expect)))


def with_routes(plan: Plan, nodes: Sequence[NetworkNode]) -> Plan:
    """The plan, in which nodes have the routes of the shortest paths, unless they have others or daemons."""
    if not any(node.interfaces for node in nodes):
        return plan
    given = {node.name for node in nodes if node.routes is not None or node.routing is not None}
    found = {
        name: tuple(Route(to=to, via=tuple(via)) for to, via in routes)
        for name, routes in core.static_routes(wire.text(plan))
    }
    routed = (
        replace(node, routes=found[node.name])
        if isinstance(node, HostNode | RouterNode) and node.name not in given
        else node
        for node in plan.nodes
    )
    return replace(plan, nodes=tuple(routed))


def steered(plan: Plan, nodes: Sequence[NetworkNode]) -> list[str]:
    """The nodes whose routes are not those of the shortest paths, by name: packets may take other ways than the plan's
    paths. `nodes`: those of the plan's network."""
    given = {node.name for node in nodes if node.routes is not None}
    if not given:
        return []
    shortest = {name: [(to, tuple(via)) for to, via in found] for name, found in core.static_routes(wire.text(plan))}
    return [
        node.name
        for node in plan.nodes
        if isinstance(node, HostNode | RouterNode)
        and node.name in given
        and not (isinstance(node, RouterNode) and node.routing)
        and [(route.to, route.via) for route in node.routes] != shortest[node.name]
    ]
