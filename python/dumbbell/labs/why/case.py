"""The subject of all checks: two nodes that do not reach each other, and all between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from dumbbell.frozen import dataclass
from dumbbell.labs import bridges, changes, daemons, ways
from dumbbell.labs.live import Live
from dumbbell.labs.network import Cable, Network
from dumbbell.labs.why.facts import Facts, Interface, read

if TYPE_CHECKING:
    from dumbbell.plan.types import Link

MOST: Final = 60
"""Nodes whose state is read: of a larger network, those on the ways that packets take now."""


_PING: Final = 98
"""Bytes of a ping's frame."""
_BUSY_S: Final = 0.3


def took_ns(link: Link) -> int:
    """Time that a link takes for a ping without a queue."""
    serialised = 0 if not link.rate_bps else round((_PING + link.overhead_bytes) * 8e9 / link.rate_bps)
    return link.delay_ns + serialised


@dataclass(frozen=True)
class Case:
    """A pair of nodes that do not reach each other. Each fact is read once."""

    lab: Live
    from_: str
    to: str
    ip: int
    """The version of IP: 4 or 6."""

    @property
    def network(self) -> Network:
        """The lab's nodes and cables."""
        return self.lab.network

    @property
    def pairs(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Both directions."""
        return (self.from_, self.to), (self.to, self.from_)

    @cached_property
    def there(self) -> ways.Way:
        """The way of requests, as route tables have it."""
        return ways.way(self.lab, self.from_, self.to, self.ip)

    @cached_property
    def back(self) -> ways.Way:
        """The way of answers."""
        return ways.way(self.lab, self.to, self.from_, self.ip)

    @cached_property
    def cables(self) -> list[Cable]:
        """The cables of all ways between the two nodes, of the plan, whatever is down."""
        return [
            cable
            for cable in self.network.cables
            if self._is_between(*cable.ends) or self._is_between(*cable.ends[::-1])
        ]

    def _is_between(self, first: str, second: str) -> bool:
        return first in self._reached(self.from_, second) and second in self._reached(self.to, first)

    def _reached(self, begin: str, without: str) -> set[str]:
        """Nodes that can be reached from `begin` without a node. Each is looked for once: all its cables ask."""
        if (found := self._walked.get((begin, without))) is not None:
            return found
        seen, queue = {begin} - {without}, deque({begin} - {without})
        while queue:
            for other in self._neighbours[queue.popleft()]:
                if other not in seen and other != without:
                    seen.add(other)
                    queue.append(other)
        self._walked[begin, without] = seen
        return seen

    @cached_property
    def _walked(self) -> dict[tuple[str, str], set[str]]:
        return {}

    @cached_property
    def _neighbours(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {node: set() for node in self.network.nodes}
        for cable in self.network.cables:
            for end in cable.ends:
                found[end].add(cable.other(end))
        return found

    def is_needed(self, node: str) -> bool:
        """Packets take the node now, or have no way without it."""
        if node in self.taken:
            return True
        return self.to not in self._reached(self.from_, node)

    @cached_property
    def taken(self) -> list[str]:
        """Nodes of both ways that packets take now, each once."""
        return list(dict.fromkeys(step.node for way in (self.there, self.back) for step in way.steps))

    @cached_property
    def nodes(self) -> list[str]:
        """The nodes of these ways in which programs run."""
        known = dict.fromkeys([self.from_, *self.taken, self.to])
        every = dict.fromkeys([*known, *(end for cable in self.cables for end in cable.ends)])
        return [node for node in (every if len(every) <= MOST else known) if node in self.network.places]

    @cached_property
    def interfaces(self) -> list[tuple[str, str]]:
        """Interfaces at the ends of these cables, with their nodes."""
        ends = [pair for cable in self.cables for pair in zip(cable.ends, cable.interfaces, strict=True)]
        return [(node, interface) for node, interface in dict.fromkeys(ends) if node in self.nodes]

    @cached_property
    def facts(self) -> Mapping[str, Facts]:
        """The state of these nodes."""
        return {node: read(self.lab, node) for node in self.nodes}

    @cached_property
    def addresses(self) -> list[tuple[tuple[str, str], str]]:
        """The addresses of the two nodes and of interfaces on the ways, with node and interface, each once."""
        found = {
            held.partition("/")[0]: (node, name)
            for node in self.nodes
            for name, own in self.network.interfaces(node)
            if node in (self.from_, self.to) or (node, name) in self.interfaces
            for held in own
        }
        return [(place, address) for address, place in found.items() if (":" in address) == (self.ip == 6)]

    @cached_property
    def holders(self) -> Mapping[str, Mapping[str, Interface]]:
        """The interfaces of these nodes, and of those that are in a subnet with them."""
        beside = [other for place in self.interfaces for other, _, _ in self.network.joined(*place)]
        others = [node for node in dict.fromkeys(beside) if node not in self.nodes][:MOST]
        facts = {**self.facts, **{node: read(self.lab, node) for node in others}}
        return {node: known.interfaces for node, known in facts.items()}

    @cached_property
    def dead(self) -> Mapping[str, list[str]]:
        """Daemons that do not run, of each of these nodes that is to have some."""
        known = daemons.routers(self.lab.path)
        return {
            node: [name for name in known[node] if not self._runs(node, name)] for node in self.nodes if node in known
        }

    def _runs(self, node: str, daemon: str) -> bool:
        return self.lab[node].run(["vtysh", "-d", daemon, "-c", "show version"]).returncode == 0

    @cached_property
    def states(self) -> Mapping[str, Link]:
        """The links as they are now."""
        return changes.states(self.lab.path)

    @cached_property
    def blocked(self) -> set[Cable]:
        """Cables that a spanning tree keeps unused."""
        return {port.cable for port in bridges.ports(self.lab) if port.state == "blocking"}

    def directions(self) -> Iterator[tuple[str, str, str]]:
        """The links of these cables: name, and the nodes from and to which it leads."""
        for cable in self.cables:
            for name in cable.links:
                yield name, self.states[name].from_, self.states[name].to

    @cached_property
    def planned_links(self) -> Mapping[str, Link]:
        """The links as the scenario has them."""
        return changes.planned(self.lab.path)

    def crossed(self, way: ways.Way) -> list[str]:
        """The links that packets of a way cross, also the one into which its last node sends them."""
        found: list[str] = []
        for step, following in zip(way.steps, [*way.steps[1:], None], strict=True):
            if step.leaves is not None:
                ends = list(self.network.joined(step.node, step.leaves))
                wanted = [links for name, _, links in ends if following is None or name == following.node]
                found += wanted[0] if wanted else ()
        return list(dict.fromkeys(found))

    @cached_property
    def wait_s(self) -> float:
        """Time for which a ping waits: twice the round-trip time of the scenario, and some for a busy machine."""
        links = [self.planned_links[name] for way in (self.there, self.back) for name in self.crossed(way)]
        return _BUSY_S + 2e-9 * sum(map(took_ns, links))

    def address(self, node: str) -> str:
        """The node's address of this version of IP."""
        return self.network.address(node, self.ip)
