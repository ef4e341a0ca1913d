"""The network of a scenario: nodes with their addresses, links with their changes over time, and the ways of flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from dumbbell.frozen import dataclass
from dumbbell.hints import nearest, some
from dumbbell.scenario.links.changes import DaemonChange, daemon_timeline
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.direction import Direction, WrittenLink
from dumbbell.scenario.resolve.links import check_carriers, resolve_links
from dumbbell.scenario.resolve.outline import Ends, NetworkNode, Outline, Way
from dumbbell.scenario.resolve.qdiscs import check_kernels_links
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.drawing import Spread
from dumbbell.units import Time
from dumbbell.units.mtu import Version


@dataclass(frozen=True)
class ShapedLink:
    """A link with all keys of a link."""

    name: str
    from_: str
    to: str
    states: tuple[tuple[Time, Direction], ...]
    """The settled link at time 0, and after each change with its time."""
    rtt: Time
    """The base RTT by which its BDP is reckoned: the largest of a flow across it."""
    ends: Ends
    has_least_buffer: bool = False
    """Its buffer is not written down, and 1 BDP would be too little."""

    @property
    def first(self) -> Direction:
        """The link at the start of the run."""
        return self.states[0][1]


@dataclass(frozen=True)
class Network:
    """The network that carries the traffic."""

    nodes: tuple[NetworkNode, ...]
    links: tuple[ShapedLink, ...]
    prepared: Mapping[str, Sequence[Way]]
    """Host -> the ways that its socket memory has to suffice for."""
    mtu: int
    """MTU of all hosts and links, in bytes, unless a link has its own."""
    mtus: Mapping[tuple[str, str], int]
    """From, to -> the most bytes of an IP packet on the way between two hosts, where links have MTUs of their own."""
    neighbours: Literal["filled", "real"]
    """The source of neighbours' MAC addresses."""
    wait: Time
    """Longest wait for routing daemons and spanning tree before time 0."""
    daemons: tuple[DaemonChange, ...]
    """The changes of routing daemons in order of time."""
    spread: Spread
    """Choice among paths of equal cost."""
    anycast: tuple[str, ...]
    """Subnets that are in several places."""

    def address(self, host: str, ip: Version) -> str:
        """The address of a host to which flows of this version of IP go."""
        node = next(node for node in self.nodes if node.name == host)
        return node.address if ip == 4 else node.ipv6_address

    @property
    def largest_mtu(self) -> int:
        """The largest MTU of any interface, in bytes."""
        return max(self.mtu, *(one.mtu or 0 for node in self.nodes for one in node.interfaces), 0)

    @property
    def rtts(self) -> Mapping[str, Time]:
        """Link -> the base RTT by which its BDP is reckoned."""
        return {link.name: link.rtt for link in self.links}


def _check_tags(scenario: Scenario, outline: Outline) -> Iterator[Finding]:
    """Bursts that bridges would have to sort by VLANs."""
    has_vlans = any(one.vlans is not None for node in outline.nodes for one in node.interfaces)
    for key, asked in (("path", scenario.emulate.path == "gso"), ("whole_bursts", scenario.emulate.whole_bursts)):
        if has_vlans and asked:
            what, hint = "bursts of segments carry no tags of VLANs", f"leave {key} out"
            yield Finding(("emulate", key), what, 'path = "wire"', hint)


def _has_least_buffer(link: WrittenLink, known: dict[tuple[int, int], bool]) -> bool:
    """`Direction.has_least_buffer`, once for all links that share their values. `known`: what was found before."""
    alike = id(link.start), int(link.rtt)
    if alike not in known:
        known[alike] = link.start.has_least_buffer(link.rtt)
    return known[alike]


def resolve_network(scenario: Scenario, outline: Outline, wrong: list[Finding]) -> Network:
    """The network; what is wrong with it is added to `wrong`, and then it is not complete."""
    drawing = scenario.topology.drawing
    switches = {node.name for node in outline.nodes if node.kind == "switch"}
    wrong += check_carriers(scenario, outline.links, switches)
    wrong += check_kernels_links(scenario, outline)
    wrong += _check_tags(scenario, outline)
    states = resolve_links(scenario, outline.links, wrong)
    known: dict[tuple[int, int], bool] = {}
    links = (
        ShapedLink(
            link.name,
            link.from_,
            link.to,
            tuple(states[link.name]),
            link.rtt,
            outline.ends[link.name],
            not wrong and _has_least_buffer(link, known),
        )
        for link in outline.links
    )
    daemons = resolve_daemons(scenario, outline.nodes, wrong)
    return Network(
        outline.nodes,
        tuple(links),
        outline.prepared,
        scenario.topology.mtu,
        outline.mtus,
        drawing.neighbours,
        drawing.wait,
        daemons,
        drawing.spread,
        tuple(map(str, drawing.anycast)),
    )


ZEBRA: Final = "zebra"
"""The daemon that every router with daemons has."""


def resolve_daemons(scenario: Scenario, nodes: Sequence[NetworkNode], wrong: list[Finding]) -> tuple[DaemonChange, ...]:
    """The changes of routing daemons in order of time; complete if nothing was added to `wrong`."""
    daemons = {node.name: (ZEBRA, *node.routing.daemons) for node in nodes if node.routing is not None}
    known = [
        finding for index, event in enumerate(scenario.events) if event.router is not None
        for finding in _names(("events", index), event.router, event.daemon or "", daemons)
    ]  # fmt: skip
    changes = daemon_timeline(scenario.events, scenario.duration)
    wrong += known or _states(changes)
    return tuple(changes)


def _names(at: Key, router: str, daemon: str, daemons: Mapping[str, Sequence[str]]) -> list[Finding]:
    if not daemons:
        hint = 'give routers a protocol: r1 = { kind = "router", routing = ["ospf"] }'
        return [Finding((*at, "router"), "no router has routing daemons", "the name of a router with daemons", hint)]
    if router not in daemons:
        what = f"no router with daemons is called {router}"
        return [Finding((*at, "router"), what, some(list(daemons)), nearest(router, list(daemons)))]
    own = list(daemons[router])
    if daemon not in own:
        return [Finding((*at, "daemon"), f"{router} has no such daemon", some(own), nearest(daemon, own))]
    return []


def _states(changes: Sequence[DaemonChange]) -> list[Finding]:
    """Checks that killed daemons run, and that started ones do not."""
    down: set[tuple[str, str]] = set()
    for change in changes:
        which = (change.router, change.daemon)
        if change.up == (which not in down):
            state = "runs already" if change.up else "does not run any more"
            what = f"{change.daemon} of {change.router} {state} at {change.at}"
            hint = "leave the event out" if change.up else "start it before, with up = true"
            return [Finding(("events", change.index), what, "an event that changes something", hint)]
        if change.up:
            down.discard(which)
        else:
            down.add(which)
    return []
