"""The BGP sessions of a router, as they follow from links and autonomous systems."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

from dumbbell.frozen import dataclass
from dumbbell.routing.model import Network, Relation, Router

_CARRIERS = ("ospf", "isis", "rip")
"""Protocols that make loopback addresses known inside an AS."""


@dataclass(frozen=True)
class Session:
    """A session as one of its routers sees it."""

    router: Router
    peer: Router
    address: IPv4Address | IPv6Address
    """The peer's."""
    by_loopback: bool = False

    @property
    def internal(self) -> bool:
        """Both routers are in one AS."""
        return self.router.asn == self.peer.asn

    @property
    def relation(self) -> Relation | None:
        """Relation of the peer to the router."""
        return self.router.relations.get(self.peer.name)


def sessions(router: Router, network: Network) -> list[Session]:
    """All sessions of a router: external ones by its interfaces, then internal ones in the order of the routers."""
    return [*_external(router, network), *_internal(router, network)]


def _external(router: Router, network: Network) -> Iterator[Session]:
    for peer, address in adjacent(router, network):
        if peer.asn != router.asn and peer.speaks("bgp"):
            yield Session(router, peer, address)


def _internal(router: Router, network: Network) -> Iterator[Session]:
    for peer in internal_pairs(router, network):
        direct = [address for other, address in adjacent(router, network) if other.name == peer.name]
        if any(router.speaks(one) and peer.speaks(one) for one in _CARRIERS):
            yield Session(router, peer, peer.id, by_loopback=True)
            direct = [address for address in direct if address.version == 6]
        yield from (Session(router, peer, address) for address in direct)


def internal_pairs(router: Router, network: Network) -> list[Router]:
    """The routers of its AS with which a router is to have a session, whether it can have one or not."""
    same = [one for one in network.routers if one.asn == router.asn and one.speaks("bgp")]
    return [peer for peer in same if peer.name != router.name and _hear_each_other(router, peer, same)]


def _hear_each_other(router: Router, peer: Router, same: list[Router]) -> bool:
    """Routers that are nobody's clients form a full mesh; a client hears from its reflectors only."""
    clients = frozenset().union(*(one.clients for one in same))
    both_meshed = router.name not in clients and peer.name not in clients
    return both_meshed or peer.name in router.clients or router.name in peer.clients


def adjacent(router: Router, network: Network) -> Iterator[tuple[Router, IPv4Address | IPv6Address]]:
    """The routers on a router's segments, each with its addresses in subnets that both have there."""
    for interface in router.interfaces:
        subnets = {address.network for address in interface.addresses}
        for other, there in network.neighbours(router, interface):
            for address in there.addresses:
                if address.network in subnets:
                    yield other, address.ip
