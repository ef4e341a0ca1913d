"""A drawn network, resolved: nodes with interfaces and addresses, links by name, and the ways of its flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dumbbell.routing import Configuration
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.direction import WrittenLink, both
from dumbbell.scenario.resolve.drawn.addresses import Addressing
from dumbbell.scenario.resolve.drawn.check import check_anycast, check_drawing, check_routes, link_names
from dumbbell.scenario.resolve.drawn.interfaces import Port, bridge_ports, domains
from dumbbell.scenario.resolve.drawn.ipv6 import check_ipv6, check_mtus
from dumbbell.scenario.resolve.drawn.routing import routed
from dumbbell.scenario.resolve.drawn.vlans import is_bridge, vlans
from dumbbell.scenario.resolve.drawn.ways import Hop, between_hosts, ways
from dumbbell.scenario.resolve.outline import Ends, NetworkNode, NodeInterface, Outline, SpanningTree, Way
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.drawing import Drawing, Drawn, Node
from dumbbell.scenario.topology.graph import Graph
from dumbbell.scenario.topology.nodes import AnyInterface, Router, Switch, Timers
from dumbbell.units import Time

LEAST_RTT: Final = Time(10 * 10**6)
"""By which BDPs in a lab without flows are reckoned at least: many labs have rates and no delays, and with a buffer of
one packet TCP would get little of the rate."""

TREES: Final[Mapping[Timers, tuple[int, int, int]]] = {"fast": (1, 2, 6), "standard": (2, 15, 20)}
"""Hello time, forward delay and maximum age of spanning trees, in s: the least that Linux takes, and those of
IEEE 802.1D-1998, table 8-3."""


def drawn_outline(scenario: Scenario, topology: Drawn, wrong: list[Finding]) -> Outline | None:
    """The network of a drawing; none if there is something wrong with it, which is added to `wrong`."""
    drawing, before = topology.drawing, len(wrong)
    wrong += check_drawing(drawing, topology.mtu)
    if len(wrong) > before:
        return None
    anycast = topology.anycast if isinstance(topology, Graph) else ()
    addressing, joined = Addressing(topology, drawing, wrong, anycast), domains(drawing)
    addresses, ids = addressing.ports(joined), addressing.router_ids()
    wrong += [*check_routes(drawing, addresses), *check_anycast(drawing, anycast, joined)]
    wrong += check_mtus(drawing, addresses, topology.mtu)
    if len(wrong) > before:
        return None
    daemons = routed(drawing, joined, addresses, ids, wrong)
    if len(wrong) > before:
        return None
    nodes, ends = _nodes(drawing, addresses, ids, daemons), _ends(drawing, addresses)
    links = _links(scenario, topology, drawing)
    hops = [_hop(link, ends[link.name]) for link in links]
    found = ways(scenario, nodes, hops, topology.spread, anycast, wrong)
    wrong += check_ipv6(scenario, nodes, hops, found)
    if len(wrong) > before:
        return None
    prepared: dict[str, list[Way]] = {name: [] for name in drawing.hosts}
    for (from_, to), way in found.items():
        prepared[from_].append(way)
        prepared[to].append(way)
    mtus = _mtus(topology, drawing, found)
    return Outline(
        nodes,
        _reckoned(scenario, links, nodes, hops, found.values()),
        lambda *pair: found.get(pair),
        prepared,
        (),
        ends,
        mtus,
    )


def _mtus(topology: Drawn, drawing: Drawing, found: Mapping[tuple[str, str], Way]) -> dict[tuple[str, str], int]:
    """The MTU of each way there and back; none if no link has its own."""
    if not any(cable.mtu for cable in drawing.cables):
        return {}
    names = zip(drawing.cables, link_names(drawing), strict=True)
    of_links = {name: cable.mtu or topology.mtu for cable, both in names for name in both}
    mtus: dict[tuple[str, str], int] = {}
    for (a, b), way in found.items():
        mtus.setdefault((b, a), min(of_links[name] for name in way.back))
        mtus[a, b] = min(of_links[name] for name in way.there)
    return mtus


def _nodes(
    drawing: Drawing,
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
        found = NetworkNode(name, "router", str(ids[name]), tuple(interfaces), routes, node.sysctl)
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


def _links(scenario: Scenario, topology: Drawn, drawing: Drawing) -> list[WrittenLink]:
    found = []
    for cable, key, names in zip(drawing.cables, drawing.keys, link_names(drawing), strict=True):
        there, back = cable.given(), cable.reverse.given()
        directions = both(there, back, scenario.duration, cable.mtu or topology.mtu, _delays(cable))
        a, b = cable.between
        # No flow is known yet, so no RTT.
        found.append(WrittenLink(names[0], a, b, key, there, directions[0], Time(0)))
        found.append(WrittenLink(names[1], b, a, (*key, "reverse"), back, directions[1], Time(0)))
    return found


def _delays(cable: Cable) -> tuple[Time, Time]:
    there = Time(0) if cable.delay is None else cable.delay
    return there, there if cable.reverse.delay is None else cable.reverse.delay


def _ends(drawing: Drawing, addresses: Iterable[Port]) -> dict[str, Ends]:
    names = {(port.cable, port.end): port.name for port in addresses} | bridge_ports(drawing)
    found: dict[str, Ends] = {}
    for index, (there, back) in enumerate(link_names(drawing)):
        a, b, cost = names.get((index, 0)), names.get((index, 1)), drawing.cables[index].cost
        found |= {there: Ends(a, b, cost), back: Ends(b, a, cost)}
    return found


def _hop(link: WrittenLink, ends: Ends) -> Hop:
    delay = int(link.start.delay)
    return link.name, link.from_, ends.from_interface, link.to, ends.to_interface, ends.cost, delay, link.start.up


def _reckoned(
    scenario: Scenario,
    links: Sequence[WrittenLink],
    nodes: Sequence[NetworkNode],
    hops: Sequence[Hop],
    found: Iterable[Way],
) -> tuple[WrittenLink, ...]:
    """The links with the RTT by which their BDP is reckoned: of flows; of all traffic where a lab has no flows."""
    if scenario.flows or all(link.start.buffer.kind != "bdp" for link in links):
        return _with_rtts(links, found)
    reckoned = _with_rtts(links, between_hosts(nodes, hops))
    return tuple(link.reckoned_by(max(link.rtt, LEAST_RTT)) for link in reckoned)


def _with_rtts(links: Iterable[WrittenLink], found: Iterable[Way]) -> tuple[WrittenLink, ...]:
    """The links with the largest base RTT of a flow across each, or of all flows where none crosses."""
    rtts: dict[str, Time] = {}
    largest = Time(0)
    for way in found:
        largest = max(largest, way.rtt)
        for name in (*way.there, *way.back):
            rtts[name] = max(rtts.get(name, way.rtt), way.rtt)
    return tuple(link.reckoned_by(rtts.get(link.name, largest)) for link in links)
