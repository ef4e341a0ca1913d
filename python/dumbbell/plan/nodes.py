"""The plan's nodes: hosts, switches and routers, with their interfaces and routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dumbbell.core import core
from dumbbell.plan import wire
from dumbbell.plan.types import HostNode, Interface, Node, Plan, Route, RouterNode, Routing, SwitchNode
from dumbbell.scenario.resolve.outline import NetworkNode


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
    keys: dict[str, Any] = {
        "name": node.name,
        "address": node.address,
        "sysctl": sysctl,
        "interfaces": tuple(
            Interface(name=i.name, mac=i.mac, addresses=i.addresses, mtu=i.mtu) for i in node.interfaces
        ),
        "routes": tuple(Route(to=route.to, via=route.via) for route in node.routes or ()),
        "private": node.private,
        "cpus": node.cpus,
    }
    return HostNode(**keys) if node.kind == "host" else RouterNode(**keys, routing=_routing(node))


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
        node if isinstance(node, SwitchNode) or node.name in given else replace(node, routes=found[node.name])
        for node in plan.nodes
    )
    return replace(plan, nodes=tuple(routed))


def steered(plan: Plan) -> list[str]:
    """The nodes whose routes are not those of the shortest paths, by name: packets may take other ways than the plan's
    paths."""
    if not any(isinstance(node, HostNode | RouterNode) and node.interfaces for node in plan.nodes):
        return []
    shortest = {name: [(to, tuple(via)) for to, via in found] for name, found in core.static_routes(wire.text(plan))}
    return [
        node.name
        for node in plan.nodes
        if not isinstance(node, SwitchNode)
        and not (isinstance(node, RouterNode) and node.routing)
        and [(route.to, route.via) for route in node.routes] != shortest[node.name]
    ]
