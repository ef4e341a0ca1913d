"""Drawings that are no networks: names, ends and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from itertools import islice

from dumbbell.hints import nearest, some
from dumbbell.scenario.resolve.drawn.interfaces import Domain, Port
from dumbbell.scenario.resolve.drawn.vlans import check_vlans, lanes, place, vlans
from dumbbell.scenario.source import MOST_FINDINGS, Finding, Key
from dumbbell.scenario.topology.drawing import Structure
from dumbbell.scenario.topology.nodes import LONGEST_NAME, NAME, AnyInterface, Prefix, Router, Switch

NODES: Key = ("topology", "nodes")
BRIDGE = '{ kind = "switch", bridge = true, stp = true }'


def check_drawing(drawing: Structure, mtu: int) -> list[Finding]:
    """Finds what is wrong with the nodes and with what joins them.

    Args:
        drawing: the network.
        mtu: of links that give none, in bytes.
    """
    wrong = [*_names(drawing), *islice(_ends(drawing), MOST_FINDINGS)]
    # A cable with unknown ends is neither a loop nor a node's only one.
    wrong = wrong or [*_alone(drawing), *_ways_outside(drawing), *check_vlans(drawing), *_mtus(drawing, mtu)]
    return wrong or list(_loops(drawing))


def _names(drawing: Structure) -> Iterator[Finding]:
    if not drawing.nodes:
        yield Finding(NODES, "no node", "at least two nodes, which a link joins", "add h1 = {}")
    for name in drawing.nodes:
        if len(name) > LONGEST_NAME:
            why = f"at most {LONGEST_NAME} characters: interfaces of Linux have no longer names"
            yield Finding((*NODES, name), f"a name of {len(name)} characters", why, f"write {name[:LONGEST_NAME]}")
        elif not NAME.fullmatch(name):
            yield Finding((*NODES, name), "not a name", "letters, digits, `_` and `-`, a letter or digit first")
    taken: dict[str, int] = {}
    for i, names in enumerate(link_names(drawing)):
        for name in dict.fromkeys(names):
            if name in taken:
                at = (*drawing.keys[i], "name") if drawing.cables[i].name else drawing.keys[i]
                yield Finding(at, f"another link is called {name}", "a name of its own")
                break
            taken[name] = i


def _ends(drawing: Structure) -> Iterator[Finding]:
    known = list(drawing.nodes)
    for cable, key in zip(drawing.cables, drawing.keys, strict=True):
        at = (*key, "between")
        for name in dict.fromkeys(cable.between):
            if name not in drawing.nodes:
                yield Finding(at, f"unknown node {name}", some(known) if known else "a node", nearest(name, known))
        if cable.between[0] == cable.between[1]:
            yield Finding(at, f"a link from {cable.between[0]} to itself", "two different nodes")
        for name, addresses in zip(cable.between, cable.addresses or [[], []], strict=True):
            if addresses and isinstance(drawing.nodes.get(name), Switch):
                hint = "write [] in its place, and the address at the other end"
                yield Finding((*key, "addresses"), f"{name} is a switch, which has no address", "[] for a switch", hint)


def _alone(drawing: Structure) -> Iterator[Finding]:
    joined = {name for cable in drawing.cables for name in cable.between}
    for name in drawing.nodes:
        if name not in joined:
            hint = f'add [[topology.links]] with between = ["{name}", ...], or leave {name} out'
            yield Finding((*NODES, name), f"no link leads to {name}", "at least one link", hint)


def _ways_outside(drawing: Structure) -> Iterator[Finding]:
    """Routers beside the first one that leads to this machine's network."""
    first, *others = [name for name, node in drawing.nodes.items() if isinstance(node, Router) and node.nat] or [""]
    for name in others:
        yield Finding((*NODES, name, "nat"), f"{first} leads to this machine's network, too", "one router with nat")


def _loops(drawing: Structure) -> Iterator[Finding]:
    """Loops without a bridge that has a spanning tree, of any VLAN."""
    roots: dict[tuple[str, int], tuple[str, int]] = {}
    found = vlans(drawing)

    def root(place: tuple[str, int]) -> tuple[str, int]:
        while place in roots:
            place = roots[place]
        return place

    for index, (cable, key) in enumerate(zip(drawing.cables, drawing.keys, strict=True)):
        if not all(_repeats(drawing.nodes[name]) for name in cable.between):
            continue
        for lane in lanes(index, found):
            a, b = (root(place(drawing, name, lane, found)) for name in cable.between)
            if a == b:
                what = f"{cable.between[0]} and {cable.between[1]} close a loop of switches"
                why = "one way between any two switches, or broadcasts would go round for ever"
                hint = f"leave the link out, or write {cable.between[0]} = {BRIDGE}"
                yield Finding((*key, "between"), what, why, hint)
                break
            roots[a] = b


def _repeats(node: object) -> bool:
    """A switch that sends on what comes, whether there is a loop or not."""
    return isinstance(node, Switch) and not node.stp


def _mtus(drawing: Structure, mtu: int) -> Iterator[Finding]:
    """Switches send no ICMP: what is too large for the next link would vanish there."""
    first: dict[str, tuple[str, int]] = {}
    for cable, key, (name, _) in zip(drawing.cables, drawing.keys, link_names(drawing), strict=True):
        own = cable.mtu or mtu
        for node in cable.between:
            if not isinstance(drawing.nodes[node], Switch):
                continue
            other, known = first.setdefault(node, (name, own))
            if own != known:
                at = (*key, "mtu") if cable.mtu else key
                what = f"{own} B on {name}, and {known} B on {other}"
                hint = f"write mtu = {known}, or make {node} a router"
                yield Finding(at, what, f"the same MTU on all links of the switch {node}", hint)


def check_routes(drawing: Structure, addresses: Mapping[Port, tuple[AnyInterface, ...]]) -> Iterator[Finding]:
    """Routes that the scenario gives and that lead to no neighbour."""
    near: dict[str, list[AnyInterface]] = {}
    for port, own in addresses.items():
        near.setdefault(port.node, []).extend(own)
    for name, node in drawing.nodes.items():
        for i, route in enumerate(getattr(node, "routes", None) or []):
            for hop in map(ip_address, route.via):
                if not any(hop in one.network and hop != one.ip for one in near.get(name, [])):
                    subnets = ", ".join(str(one.network) for one in near.get(name, []))
                    what = f"{hop} is in none of {name}'s subnets"
                    yield Finding((*NODES, name, "routes", i), what, f"an address of another node in {subnets}")


def check_anycast(drawing: Structure, anycast: Sequence[Prefix], joined: Sequence[Domain]) -> Iterator[Finding]:
    """Subnets that are to be in several places and are not, and routers that could not find the nearest."""
    at: Key = ("topology", "anycast")
    for i, subnet in enumerate(anycast):
        places = [
            domain for domain in joined if any(one.network == subnet for port in domain.ports for one in port.given)
        ]
        if len(places) < 2:
            hint = f"give nodes on other links addresses in {subnet}, or leave it out"
            found = "no link has" if not places else "one link alone has"
            yield Finding((*at, i), f"{found} addresses in the subnet {subnet}", "a subnet in several places", hint)
    for name, node in drawing.nodes.items():
        if anycast and isinstance(node, Router) and not node.routing and node.frr is None:
            hint = f'{name}: routing = ["ospf"], or of all routers: topology.routing'
            why = "routing daemons, which find the nearest place"
            yield Finding(at, f"{name} has no routing daemon", why, hint)


def link_names(drawing: Structure) -> list[tuple[str, str]]:
    """The names of both directions of each cable.

    Without a name of its own, a cable is called by its ends; the second one between the same two nodes has a number.
    """
    return named((cable.between, cable.name) for cable in drawing.cables)


def named(cables: Iterable[tuple[Sequence[str], str | None]]) -> list[tuple[str, str]]:
    """The same of cables between two nodes each, with the names of their own that some have."""
    found: list[tuple[str, str]] = []
    count: dict[frozenset[str], int] = {}
    taken: set[str] = set()
    for (a, b), name in cables:
        if name is not None:
            found.append((name, f"{name}-reverse"))
        else:
            ends = frozenset((a, b))
            names = None
            # Nodes may be called like a link with a number: a-b-2 joins a and b-2, and is the second of a and b.
            while names is None or taken & {*names}:
                count[ends] = count.get(ends, 0) + 1
                number = "" if count[ends] == 1 else f"-{count[ends]}"
                names = f"{a}-{b}{number}", f"{b}-{a}{number}"
            found.append(names)
        taken.update(found[-1])
    return found
