"""IPv6 that cannot be: links whose packets are too small for it, and flows on ways that lack its addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv6Interface, ip_interface

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import matching
from dumbbell.scenario.resolve.drawn.interfaces import Port
from dumbbell.scenario.resolve.drawn.ways import Hop, Pair
from dumbbell.scenario.resolve.outline import NetworkNode, NodeInterface, Way
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.drawing import Structure
from dumbbell.scenario.topology.nodes import AnyInterface
from dumbbell.units.mtu import IPV6_LEAST


def check_mtus(drawing: Structure, addresses: Mapping[Port, tuple[AnyInterface, ...]], mtu: int) -> Iterator[Finding]:
    """Links with IPv6 addresses whose MTU is too small: the kernel would take the addresses away.

    Args:
        drawing: the network.
        addresses: of its ports.
        mtu: of links that give none, in bytes.
    """
    speaking = {port.cable for port, own in addresses.items() if any(one.version == 6 for one in own)}
    wrong = [cable for cable in sorted(speaking) if (drawing.cables[cable].mtu or mtu) < IPV6_LEAST]
    # Where the network's MTU is too small, one finding is enough.
    for place in {_mtu_key(drawing, cable): cable for cable in reversed(wrong)}:
        yield Finding(place, "too small for IPv6", f"{IPV6_LEAST} B or more (RFC 8200)", f"write mtu = {IPV6_LEAST}")


def _mtu_key(drawing: Structure, cable: int) -> Key:
    return (*drawing.keys[cable], "mtu") if drawing.cables[cable].mtu else ("topology", "mtu")


def check_ipv6(
    scenario: Scenario, nodes: Sequence[NetworkNode], hops: Iterable[Hop], known_ways: Mapping[Pair, Way]
) -> Iterator[Finding]:
    """Flows over IPv6 between hosts, or on ways, without IPv6 addresses. Routes of daemons may lead elsewhere.

    Args:
        scenario: well-formed.
        nodes: of the network.
        hops: all directions of its links.
        known_ways: those of all flows.
    """
    known, links = {node.name: node for node in nodes}, {hop[0]: hop for hop in hops}
    for i, flow in enumerate(scenario.flows):
        if flow.ip != 6:
            continue
        ends = [matching(end, scenario.topology.hosts) for end in (flow.from_, flow.to)]
        lacking = [host for host in (*ends[0], *ends[1]) if host in known and not known[host].ipv6_address]
        at = ("flows", i, "ip")
        if lacking:
            hint = "write ipv6 = true in [topology], or give the links of the flow IPv6 addresses"
            if not known[lacking[0]].interfaces:
                hint = 'draw the network with kind = "graph" and ipv6 = true, or leave ip out'
            yield Finding(at, f"{lacking[0]} has no IPv6 address", "hosts with IPv6 addresses", hint)
            continue
        ways = (way for (a, b), way in known_ways.items() if a in ends[0] and b in ends[1])
        gaps = (gap for way in ways for names in (way.there, way.back) for gap in _gaps(names, links, known))
        for a, b in list(gaps)[:1]:
            hint = "write ipv6 = true in [topology], or give them IPv6 addresses"
            yield Finding(at, f"{a} and {b}, on the way, have no IPv6 subnet in common", "one on each link", hint)


def _gaps(names: Sequence[str], links: Mapping[str, Hop], known: Mapping[str, NetworkNode]) -> Iterator[Pair]:
    """Neighbours on a way without a common IPv6 subnet. Switches and bridges, which have no addresses, do not count."""
    near: tuple[str, str] | None = None
    for name in names:
        _, a, own, b, other, *_ = links[name]
        near = (a, own) if own is not None and known[a].kind != "bridge" else near
        if other is None or near is None or known[b].kind == "bridge":
            continue
        daemons = any(known[node].routing is not None for node in (near[0], b))
        if not daemons and not _subnets(known, *near) & _subnets(known, b, other):
            yield near[0], b


def _subnets(known: Mapping[str, NetworkNode], node: str, interface: str) -> set[object]:
    own: NodeInterface = next(one for one in known[node].interfaces if one.name == interface)
    found = map(ip_interface, own.addresses)
    return {one.network for one in found if isinstance(one, IPv6Interface)}
