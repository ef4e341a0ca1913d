"""Structure of a network, without rates and delays: nodes, interfaces, addresses and daemons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.routing import Configuration
from dumbbell.scenario.resolve.drawn.addresses import Addressing
from dumbbell.scenario.resolve.drawn.check import check_anycast, check_drawing, check_routes, link_names
from dumbbell.scenario.resolve.drawn.interfaces import Port, bridge_ports, domains
from dumbbell.scenario.resolve.drawn.ipv6 import check_mtus
from dumbbell.scenario.resolve.drawn.remembered import remembered
from dumbbell.scenario.resolve.drawn.routing import routed
from dumbbell.scenario.resolve.drawn.vlans import is_bridge, vlans
from dumbbell.scenario.resolve.outline import Ends, NetworkNode, NodeInterface, SpanningTree
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology.drawing import Node, Pools, Structure
from dumbbell.scenario.topology.nodes import AnyInterface, Prefix, Router, Switch, Timers
from dumbbell.units import Time

TREES: Final[Mapping[Timers, tuple[int, int, int]]] = {"fast": (1, 2, 6), "standard": (2, 15, 20)}
"""Hello time, forward delay and maximum age of spanning trees, in s: the least that Linux takes, and those of
IEEE 802.1D-1998, table 8-3."""


@dataclass(frozen=True)
class Skeleton:
    """The nodes of a network, and what its links join; or all that is wrong with it."""

    wrong: tuple[Finding, ...] = ()
    """Without anything wrong, the rest is complete."""
    nodes: tuple[NetworkNode, ...] = ()
    links: Sequence[tuple[str, str]] = ()
    """The names of both directions of each cable."""
    ends: Mapping[str, Ends] = field(default_factory=dict)
    """By a link's name."""


@remembered(4)
def skeleton(drawing: Structure, mtu: int, pools: Pools, has_ipv6: bool, anycast: tuple[Prefix, ...]) -> Skeleton:
    """The skeleton of a drawing.

    Args:
        drawing: the network.
        mtu: of links that give none, in bytes.
        pools: of its addresses.
        has_ipv6: whether every subnet has IPv6 addresses.
        anycast: subnets that are in several places.
    """
    wrong = check_drawing(drawing, mtu)
    if wrong:
        return Skeleton(tuple(wrong))
    links = link_names(drawing)
    if drawing.addresses:
        nodes = (NetworkNode(name, node.kind, drawing.addresses.get(name, "")) for name, node in drawing.nodes.items())
        return Skeleton((), tuple(nodes), links, _ends(drawing, (), links))
    addressing, joined = Addressing(drawing, pools, has_ipv6, anycast, wrong), domains(drawing)
    addresses, ids = addressing.ports(joined), addressing.router_ids()
    wrong += [*check_routes(drawing, addresses), *check_anycast(drawing, anycast, joined)]
    wrong += check_mtus(drawing, addresses, mtu)
    if wrong:
        return Skeleton(tuple(wrong))
    daemons = routed(drawing, joined, addresses, ids, wrong)
    if wrong:
        return Skeleton(tuple(wrong))
    return Skeleton((), _nodes(drawing, addresses, ids, daemons), links, _ends(drawing, addresses, links))


def _nodes(
    drawing: Structure,
    addresses: Mapping[Port, tuple[AnyInterface, ...]],
    ids: Mapping[str, object],
    daemons: Mapping[str, Configuration],
) -> tuple[NetworkNode, ...]:
    numbers = {name: number for number, name in enumerate(drawing.nodes)}
    interfaces: dict[str, list[NodeInterface]] = {name: [] for name in drawing.nodes}
    held = {(port.cable, port.end): (port.name, tuple(map(str, own))) for port, own in addresses.items()}
    held |= {end: (name, ()) for end, name in bridge_ports(drawing).items()}
    of_ports = vlans(drawing)
    for (cable, end), (interface, own) in sorted(held.items()):
        name = drawing.cables[cable].between[end]
        here, bridge = interfaces[name], is_bridge(drawing, name)
        mac, mtu = _mac(numbers[name], len(here)), drawing.cables[cable].mtu
        here.append(NodeInterface(interface, mac, own, mtu, of_ports.get(cable) if bridge else None))
    found = (_node(name, node, interfaces[name], ids) for name, node in drawing.nodes.items())
    return tuple(replace(node, routing=daemons.get(node.name)) for node in found)


def _node(name: str, node: Node, interfaces: list[NodeInterface], ids: Mapping[str, object]) -> NetworkNode:
    if isinstance(node, Switch):
        if node.bridge:
            return NetworkNode(name, "bridge", interfaces=tuple(interfaces), stp=_stp(node))
        return NetworkNode(name, "switch")
    routes = None if node.routes is None else tuple(node.routes)
    if isinstance(node, Router):
        found = NetworkNode(name, "router", str(ids[name]), tuple(interfaces), routes, node.sysctl, nat=node.nat)
    else:
        found = NetworkNode(name, "host", interfaces[0].addresses[0].partition("/")[0], tuple(interfaces), routes)
    cpu_ppm = None if node.cpu is None else int(node.cpu.percent * 10_000)
    return replace(found, private=tuple(node.private), cpus=tuple(sorted({*node.cpus})), cpu_ppm=cpu_ppm)


def _stp(node: Switch) -> SpanningTree | None:
    if not node.stp:
        return None
    hello, forward_delay, max_age = (Time(seconds * 10**9) for seconds in TREES[node.timers or "fast"])
    return SpanningTree(32768 if node.priority is None else node.priority, hello, forward_delay, max_age)


def _mac(node: int, interface: int) -> str:
    """A locally administered address that tells the node and its interface by their numbers."""
    return f"02:db:{node >> 8:02x}:{node & 255:02x}:{interface >> 8:02x}:{interface & 255:02x}"


def _ends(drawing: Structure, addresses: Iterable[Port], links: Iterable[tuple[str, str]]) -> dict[str, Ends]:
    names = {(port.cable, port.end): port.name for port in addresses} | bridge_ports(drawing)
    found: dict[str, Ends] = {}
    for index, (there, back) in enumerate(links):
        a, b, cost = names.get((index, 0)), names.get((index, 1)), drawing.cables[index].cost
        found[there], found[back] = Ends(a, b, cost), Ends(b, a, cost)
    return found
