"""The common part of protocols that work inside an autonomous system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from dumbbell.frozen import dataclass
from dumbbell.routing.model import EVERYWHERE, Interface, Network, Prefix, Router
from dumbbell.routing.protocol import Protocol


@dataclass(frozen=True)
class Port:
    """An interface whose subnets a protocol announces."""

    interface: Interface
    active: bool
    """A neighbour speaks the protocol, too. If not, nothing is sent there."""
    point_to_point: bool
    """Just two routers speak it there: they need no designated one, for whose election they would wait."""


class InteriorProtocol(Protocol):
    """A protocol by which the routers of one AS tell each other of their subnets."""

    versions: tuple[int, ...]
    """Versions of IP whose prefixes it carries."""
    announces_loopback = True

    def has_default(self, router: Router) -> bool:
        """Whether the router announces a default route: it leads to the machine's network."""
        return router.nat and 4 in self.versions

    def ports(self, router: Router, network: Network) -> Iterator[Port]:
        """The router's interfaces, without those that lead to another AS."""
        for interface in router.interfaces:
            if not any(interface.of(version) for version in self.versions):
                continue
            others = [other for other, _ in network.neighbours(router, interface)]
            if any(other.asn != router.asn for other in others):
                continue
            speakers = [other for other in others if other.speaks(self.name)]
            yield Port(interface, bool(speakers), len(speakers) == 1)

    def learned(self, network: Network) -> Mapping[str, frozenset[Prefix]]:
        """See `Protocol`: what all others in the router's part of the network announce."""
        speakers = [one for one in network.routers if one.speaks(self.name) and one.own is None]
        found: dict[str, frozenset[Prefix]] = {}
        for speaker in speakers:
            if speaker.name in found:
                continue
            part = self._part(speaker, network)
            announced = frozenset().union(*(self._announced(one, network) for one in part))
            found |= {one.name: announced - one.connected for one in part}
        return found

    def _part(self, start: Router, network: Network) -> list[Router]:
        seen, rest = {start.name: start}, [start]
        while rest:
            router = rest.pop()
            for port in self.ports(router, network):
                for other, _ in network.neighbours(router, port.interface):
                    if other.speaks(self.name) and other.own is None and other.name not in seen:
                        seen[other.name] = other
                        rest.append(other)
        return list(seen.values())

    def _announced(self, router: Router, network: Network) -> frozenset[Prefix]:
        subnets: set[Prefix] = {
            address.network
            for port in self.ports(router, network)
            for version in self.versions
            for address in port.interface.of(version)
        }
        if self.announces_loopback and 4 in self.versions:
            subnets.add(IPv4Network(router.id))
        if self.has_default(router):
            subnets.add(EVERYWHERE)
        return frozenset(subnets)
