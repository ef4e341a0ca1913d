"""A network as routing daemons see it: routers, and the interfaces by which they hear each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Interface, IPv6Network
from typing import Final, Literal

from dumbbell.frozen import dataclass

Address = IPv4Interface | IPv6Interface
Prefix = IPv4Network | IPv6Network

Timers = Literal["fast", "standard"]
"""`fast`: hellos every second, and no waiting where the protocol allows it. `standard`: those of FRR."""

Relation = Literal["customer", "peer", "provider"]
"""Relation of a neighbour in another AS to a router (RFC 7908)."""


EVERYWHERE: Final = IPv4Network("0.0.0.0/0")
"""The destination of a default route."""


@dataclass(frozen=True)
class Interface:
    """An interface of a router."""

    name: str
    segment: str
    """The broadcast domain. Interfaces in the same one hear each other."""
    addresses: tuple[Address, ...]
    cost: int = 1

    def of(self, version: int) -> tuple[Address, ...]:
        """Its addresses of IP version 4 or 6."""
        return tuple(address for address in self.addresses if address.version == version)


@dataclass(frozen=True)
class Own:
    """A configuration that the user has written."""

    text: str
    file: str
    """Its path, for errors."""


@dataclass(frozen=True)
class Router:
    """A router with daemons."""

    name: str
    id: IPv4Address
    """The address on its loopback interface, and its id in every protocol."""
    interfaces: tuple[Interface, ...]
    protocols: tuple[str, ...]
    asn: int | None = None
    networks: tuple[Prefix, ...] | None = None
    """Prefixes announced by BGP; `None`: the subnets of its interfaces on which there are hosts."""
    relations: Mapping[str, Relation] = field(default_factory=dict)
    """Name of a neighbour -> what it is to this router."""
    clients: frozenset[str] = frozenset()
    """The routers to which it reflects routes of its AS (RFC 4456)."""
    timers: Timers = "fast"
    own: Own | None = None
    nat: bool = False
    """True if it leads to the machine's network: it announces a default route."""

    def speaks(self, protocol: str) -> bool:
        """Whether it has the protocol."""
        return protocol in self.protocols

    @property
    def connected(self) -> frozenset[Prefix]:
        """The prefixes that it knows without any protocol."""
        subnets = {address.network for interface in self.interfaces for address in interface.addresses}
        return frozenset({*subnets, IPv4Network(self.id), *([EVERYWHERE] if self.nat else [])})


@dataclass(frozen=True)
class Network:
    """The routers of a network, and where its hosts are."""

    routers: tuple[Router, ...]
    lans: frozenset[str] = frozenset()
    """The segments on which there are hosts."""

    @cached_property
    def by_name(self) -> Mapping[str, Router]:
        """The routers by their names."""
        return {router.name: router for router in self.routers}

    @cached_property
    def _on(self) -> Mapping[str, Sequence[tuple[Router, Interface]]]:
        found: dict[str, list[tuple[Router, Interface]]] = {}
        for router in self.routers:
            for interface in router.interfaces:
                found.setdefault(interface.segment, []).append((router, interface))
        return found

    def neighbours(self, router: Router, interface: Interface) -> list[tuple[Router, Interface]]:
        """The other routers on an interface's segment, with their interfaces there."""
        return [(other, there) for other, there in self._on[interface.segment] if other.name != router.name]
