"""Networks of other programs as networks that a scenario can have.

Every node has a link, loops of switches have a spanning tree, and machines that can only bridge are switches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_interface
from itertools import count
from typing import Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign.joined import Joined, joined_at
from dumbbell.scenario.file.foreign.network import Link, Node
from dumbbell.scenario.file.foreign.notes import NAME, Notes, free
from dumbbell.scenario.topology.graphml import node_name
from dumbbell.scenario.topology.keys import MOST
from dumbbell.scenario.topology.nodes import LONGEST_NAME
from dumbbell.units.mtu import MTU

_STP: Final = {"bridge": "true", "stp": "true"}


def mended(nodes: dict[str, Node], links: Sequence[Link], notes: Notes, shared: str | None = None) -> list[Link]:
    """The links of a network after what a scenario cannot have was left out or replaced.

    Args:
        nodes: by name; changed.
        links: as the file has them.
        notes: of what was changed; added to.
        shared: the name of the switch that joins all nodes without a link; none: each has a switch of its own.

    Raises:
        InputError: the file has no node.
    """
    links = _named(nodes, links, notes)
    found = []
    for link in links:
        if link.pair[0] == link.pair[1]:
            notes.add(f"a link of {link.pair[0]} to itself is left out")
        else:
            found.append(link)
    _bridge(nodes, found, notes)
    found += _joining(nodes, found, notes, shared)
    if not nodes:
        raise InputError("nothing to import", "the file has no host and no router", "choose a file with a network")
    _break_loops(nodes, found, notes)
    return _with_equal_mtus(nodes, found, notes)


def _named(nodes: dict[str, Node], links: Sequence[Link], notes: Notes) -> list[Link]:
    """Rename nodes whose names a scenario cannot have; the links with the new names."""
    names, numbers = {name: name for name in nodes if NAME.fullmatch(name)}, dict[tuple[str, int], int]()
    taken = set(names)
    for name in [name for name in nodes if name not in names]:
        names[name] = node_name(name, taken, LONGEST_NAME, numbers)
        taken.add(names[name])
        nodes[name].comments.append(f"this is {name}")
        notes.add("names that are too long, or have other characters than a-z, 0-9, - and _, are others here")
    renamed = {names[name]: one for name, one in nodes.items()}
    nodes.clear()
    nodes.update(renamed)
    return [replace(link, ends=((names[a], at), (names[b], to))) for link in links for (a, at), (b, to) in [link.ends]]


def _bridge(nodes: Mapping[str, Node], links: Sequence[Link], notes: Notes) -> None:
    """Make switches of machines without addresses that stand between interfaces of one subnet."""
    silent = {
        name for name, one in nodes.items()
        if one.kind == "router" and not (one.keys or one.settings.addresses or one.settings.routes)
    }  # fmt: skip
    switches = {name for name, one in nodes.items() if one.kind == "switch"}
    pairs = [link.pair for link in links]
    domains, blobs = joined_at(pairs, switches), joined_at(pairs, switches | silent)
    first: dict[tuple[int, object], int] = {}
    bridging = set()
    for number, link in enumerate(links):
        for node, interface in link.ends:
            for address in nodes[node].settings.addresses.get(interface, ()):
                blob, domain = blobs.root(number), domains.root(number)
                if first.setdefault((blob, ip_interface(address).network), domain) != domain:
                    bridging.add(blob)
    for number, link in enumerate(links):
        for node, _ in link.ends:
            if node in silent and nodes[node].kind == "router" and blobs.root(number) in bridging:
                nodes[node].kind = "switch"
                notes.add("machines without addresses between interfaces of one subnet are switches")


def _joining(nodes: dict[str, Node], links: Sequence[Link], notes: Notes, shared: str | None) -> list[Link]:
    """Links for nodes that have none: without one they would have no interface. Switches without a link are removed."""
    loose = nodes.keys() - {node for link in links for node in link.pair}
    numbers, found = count(1), list[Link]()
    for name in [name for name in nodes if name in loose]:
        one = nodes[name]
        if one.kind == "switch":
            del nodes[name]
            notes.add(f"switches without a link are left out: {name}")
            continue
        if shared is not None:
            notes.add("nodes without a link meet at a switch, as in the management network")
        else:
            notes.add("nodes without a link have one to a switch of their own, which gives them an interface")
        interface = "eth0" if shared is not None else next(iter(one.settings.addresses), "eth0")
        if shared is None or not found:
            switch = free(name if shared is None else shared, nodes, numbers)
            nodes[switch] = Node("switch")
        found.append(Link(((name, interface), (switch, f"port{len(found)}"))))
    return found


def _break_loops(nodes: Mapping[str, Node], links: Sequence[Link], notes: Notes) -> None:
    """Give switches that form a loop a spanning tree: frames would go round for ever without one."""
    joined, looped = Joined[str](), []
    for link in links:
        a, b = link.pair
        if nodes[a].kind == nodes[b].kind == "switch" and not joined.join(a, b):
            looped.append(a)
    roots = {joined.root(name) for name in looped}
    for name, one in nodes.items():
        if one.kind == "switch" and joined.root(name) in roots and not one.keys:
            one.keys |= _STP
            notes.add("switches that form a loop are bridges with a spanning tree")


def _with_equal_mtus(nodes: Mapping[str, Node], links: Sequence[Link], notes: Notes) -> list[Link]:
    """The links with one MTU at each switch, the least: what is too large for the next link would vanish there."""
    parts = joined_at([link.pair for link in links], {name for name, one in nodes.items() if one.kind == "switch"})
    least: dict[int, int] = {}
    for number, link in enumerate(links):
        least[parts.root(number)] = min(link.mtu or MTU, least.get(parts.root(number), MOST))
    found = []
    for number, link in enumerate(links):
        mtu = least[parts.root(number)]
        if mtu != (link.mtu or MTU):
            notes.add("links of a switch have the least MTU of them")
            link = replace(link, mtu=mtu)
        found.append(link)
    return found
