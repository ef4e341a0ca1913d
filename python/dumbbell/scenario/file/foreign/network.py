"""A network that was read from a file of another program, as the text of a scenario."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final

from dumbbell.scenario.file.foreign.commands import Settings
from dumbbell.scenario.file.foreign.notes import Notes, note_parts, one_line

End = tuple[str, str]
"""A node and the name of its interface in the file."""


@dataclass
class Node:
    """A node of the file.

    Attributes:
        kind: `host`, `switch` or `router`.
        settings: its addresses and routes.
        comments: what the file says beside them.
        keys: more of its keys, as TOML writes their values.
    """

    kind: str
    settings: Settings = field(default_factory=Settings)
    comments: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)


@dataclass
class Link:
    """A link of the file.

    Attributes:
        ends: as `between` has them.
        mtu: the most bytes of an IP packet; none: the network's.
    """

    ends: tuple[End, End]
    mtu: int | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """Names of the two nodes."""
        return self.ends[0][0], self.ends[1][0]


def bridge(node: Node, ports: set[str]) -> None:
    """Make a node a switch if all that it does is to bridge its interfaces; else its bridges stand in comments."""
    done = node.settings
    if len(done.bridges) == 1 and not done.addresses and not done.routes:
        (bridge,) = done.bridges.values()
        if ports == set(bridge.ports):
            node.kind = "switch"
            if bridge.stp:
                node.keys |= {"bridge": "true", "stp": "true"}
            return
    done.rest += [command for bridge in done.bridges.values() for command in bridge.commands]


def text(
    name: str,
    program: str,
    nodes: Mapping[str, Node],
    links: Sequence[Link],
    notes: Notes,
    more: Sequence[str] = (),
) -> tuple[str, list[str]]:
    """The scenario of a network, and the notes that stand in it.

    Args:
        name: the scenario's.
        program: the name of the program whose file it was.
        nodes: by name.
        links: between them.
        notes: what was left out; more are added here.
        more: lines of further tables.
    """
    used = {end for link in links for end in link.ends}
    lines: list[str] = []
    for node, one in nodes.items():
        rest = [f"{program} runs: {command}" for command in one.settings.rest]
        for interface, addresses in one.settings.addresses.items():
            if (node, interface) not in used:
                rest.append(f"{interface} has no link: {' '.join(addresses)}")
                notes.add("addresses of interfaces without a link stand in comments")
            kept = _kept(addresses)
            for address in [one for one in addresses if one not in kept]:
                rest.append(f"{interface} also has {address}")
                notes.add("second addresses of interfaces stand in comments")
        if one.settings.rest:
            notes.add(f"commands of {program} stand in comments, and are not run")
        keys = [] if one.kind == "host" else [f'kind = "{one.kind}"']
        if one.settings.id is not None and one.kind == "router":
            keys.append(f'id = "{one.settings.id}"')
        elif one.settings.id is not None:
            rest.append(f"lo has {one.settings.id}")
            notes.add("addresses of the loopback interface stand in comments: routers alone have one")
        unused = [name for name in one.settings.shaping if (node, name) not in used]
        rest += [f"{name} has no link, and {one.settings.shaping[name]}" for name in unused]
        keys += [f"{key} = {value}" for key, value in one.keys.items()]
        if one.settings.routes:
            keys.append(f"routes = {json.dumps(_shared(one.settings.routes))}")
        lines += [f"# {one_line(comment)}" for comment in (*one.comments, *rest)]
        lines.append(f"{node} = {{ {', '.join(keys)} }}" if keys else f"{node} = {{}}")
    note_parts(nodes, (link.pair for link in links), notes)
    for link in _ordered(links):
        lines += ["", *_link(link, nodes)]
    network = ["[topology]", 'kind = "graph"']
    if any(":" in address for one in nodes.values() for held in one.settings.addresses.values() for address in held):
        network.append("ipv6 = true")
    head = [*_head(name, program), *(f"# Note: {one_line(note)}." for note in notes)]
    tables = [*network, "", *more, *([""] if more else []), "[topology.nodes]", *lines, ""]
    return "\n".join([*head, "", *tables]), list(notes)


def of_file(name: str, program: str, file: str) -> str:
    """The scenario of a network whose file `topology.file` reads.

    Args:
        name: the scenario's.
        program: that made the file, or its format.
        file: its path from the scenario's folder.
    """
    return "\n".join([*_head(name, program), "", "[topology]", 'kind = "graph"', f"file = {json.dumps(file)}", ""])


def _head(name: str, program: str) -> list[str]:
    return [f'name = "{name}"', f"# Imported from {program}. A run needs a duration and [[flows]], too."]


def _shared(routes: Iterable[str]) -> list[str]:
    """Routes with one entry for each destination; several next hops share it. IPv4 and IPv6 have a default each."""
    hops: dict[tuple[str, bool], list[str]] = {}
    for route in routes:
        to, _, hop = route.partition(" via ")
        hops.setdefault((to, ":" in hop), []).append(hop)
    return [f"{to} via {', '.join(dict.fromkeys(several))}" for (to, _), several in hops.items()]


def _kept(addresses: Iterable[str]) -> list[str]:
    """The first IPv4 address, and the first IPv6 address: a scenario has no more."""
    first: dict[bool, str] = {}
    for address in addresses:
        first.setdefault(":" in address, address)
    return [first[version] for version in sorted(first)]


def _link(link: Link, nodes: Mapping[str, Node]) -> list[str]:
    (a, _), (b, _) = link.ends
    held = [_kept(nodes[node].settings.addresses.get(interface, [])) for node, interface in link.ends]
    lines = ["[[topology.links]]", f'between = ["{a}", "{b}"]']
    if any(held):
        lines.append(f"addresses = {json.dumps([one[0] if len(one) == 1 else one for one in held])}")
    if link.mtu is not None:
        lines.append(f"mtu = {link.mtu}")
    there, back = (nodes[node].settings.shaping.get(interface, {}) for node, interface in link.ends)
    lines += [f"{key} = {value}" for key, value in there.items()]
    # These keys are those of the other direction, too, where it does not say.
    back = {key: value for key, value in _UNLIMITED.items() if key in there} | back
    back = {key: value for key, value in back.items() if key not in _UNLIMITED or there.get(key) != value}
    if back:
        lines.append(f"reverse = {{ {', '.join(f'{key} = {value}' for key, value in back.items())} }}")
    return lines


_UNLIMITED: Final = {"rate": '"unlimited"', "buffer": '"unlimited"', "delay": '"0 ms"'}


def _ordered(links: Sequence[Link]) -> list[Link]:
    """The links, so that each node's interfaces keep their order where that is possible: they are numbered by it.

    The order of the file stands if it does that.
    """
    before: dict[int, set[int]] = {number: set() for number in range(len(links))}
    at: dict[str, list[tuple[str, int]]] = {}
    for number, link in enumerate(links):
        for node, interface in link.ends:
            at.setdefault(node, []).append((interface, number))
    for several in at.values():
        in_turn = sorted(several, key=lambda one: _parts(one[0]))
        for (_, earlier), (_, later) in pairwise(in_turn):
            before[later].add(earlier)
    if all(earlier < later for later, several in before.items() for earlier in several):
        return list(links)
    try:
        return [links[number] for number in TopologicalSorter(before).static_order()]
    except CycleError:
        return list(links)


def _parts(interface: str) -> list[tuple[str, int, str]]:
    """An interface's name, so that names are sorted by their letters and numbers: `eth10` is after `eth9`.

    Each part has letters, and a number by its length and digits: Python reads numbers of 4,300 digits at most.
    """
    parts = re.findall(r"([^0-9]*)0*([0-9]*)", interface)
    return [(letters, len(digits), digits) for letters, digits in parts]
