"""A network before its links are settled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from dumbbell.frozen import dataclass
from dumbbell.routing import Configuration
from dumbbell.scenario.resolve.direction import WrittenLink
from dumbbell.scenario.topology.nodes import GivenRoute
from dumbbell.units import Time


@dataclass(frozen=True)
class PortVlans:
    """The VLANs of a bridge's port, by their numbers."""

    untagged: int | None
    """VLAN of untagged frames; `None`: they are dropped."""
    tagged: tuple[int, ...]
    """Tagged VLANs."""

    def __iter__(self) -> Iterator[int]:
        """All of them, the one without tags first."""
        return iter((*(() if self.untagged is None else (self.untagged,)), *self.tagged))


@dataclass(frozen=True)
class SpanningTree:
    """A bridge's part in the spanning tree."""

    priority: int
    hello: Time
    forward_delay: Time
    max_age: Time


@dataclass(frozen=True)
class NodeInterface:
    """An interface of a node: an end of a cable."""

    name: str
    mac: str
    addresses: tuple[str, ...]
    """With the lengths of their subnets' prefixes, IPv4 first."""
    mtu: int | None = None
    """The most bytes of an IP packet; `None`: the network's."""
    vlans: PortVlans | None = None
    """VLANs of a bridge's port; `None`: it looks at no tags."""


@dataclass(frozen=True)
class NetworkNode:
    """A host, a switch, a bridge or a router."""

    name: str
    kind: str
    """`host`, `switch`, `bridge` or `router`."""
    address: str = ""
    """A host's address, to which flows go, or a router's id; empty for a switch or bridge."""
    interfaces: tuple[NodeInterface, ...] = ()
    """None in a network whose packets the core forwards: a dumbbell, a path."""
    routes: tuple[GivenRoute, ...] | None = None
    """The routes that the scenario gives it; `None`: those of the shortest paths."""
    sysctl: Mapping[str, str] = field(default_factory=dict)
    """A router's own settings; those of hosts are in `Resolved`."""
    routing: Configuration | None = None
    """A router's daemons; `None`: it has none."""
    private: tuple[str, ...] = ()
    """Directories that it has for itself."""
    cpus: tuple[int, ...] = ()
    """The CPUs on which its programs run; none: on all."""
    stp: SpanningTree | None = None
    """A bridge's part in the spanning tree; `None`: it has none."""
    cpu_ppm: int | None = None
    """The share of one CPU that its programs get, in millionths; `None`: no limit."""
    nat: bool = False
    """True for a router that leads to the machine's network."""

    @property
    def ipv6_address(self) -> str:
        """A host's address to which flows over IPv6 go, of its first interface; empty if it has none."""
        own = self.interfaces[0].addresses if self.interfaces else ()
        return next((address.partition("/")[0] for address in own if ":" in address), "")


@dataclass(frozen=True)
class Ends:
    """The interfaces that a link joins, `None` at a node that has none, and what shortest paths reckon it at."""

    from_interface: str | None
    to_interface: str | None
    cost: int


@dataclass(frozen=True)
class Way:
    """The links between two hosts, there and back, by name."""

    there: tuple[str, ...]
    back: tuple[str, ...]
    rtt: Time
    """Base RTT: all delays at the start, without serialisation and queues."""


@dataclass(frozen=True)
class Outline:
    """Nodes, links as they are written, and the ways between hosts."""

    nodes: tuple[NetworkNode, ...]
    links: tuple[WrittenLink, ...]
    ways: Mapping[tuple[str, str], Way]
    """From, to -> the way of flows between two hosts."""
    prepared: Mapping[str, Sequence[Way]]
    """Host -> the ways that its socket memory has to suffice for."""
    ends: Mapping[str, Ends]
    """Link -> what it joins."""
    mtus: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """From, to -> the most bytes of an IP packet on the way between two hosts, where links have MTUs of their own."""
