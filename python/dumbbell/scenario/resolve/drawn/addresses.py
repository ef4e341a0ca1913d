"""The addresses of a drawn network: those that the scenario gives, and those that are assigned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from itertools import pairwise
from typing import Any

from dumbbell.scenario.resolve.drawn.interfaces import Domain, Port
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.drawing import Pools, Structure
from dumbbell.scenario.topology.nodes import AnyInterface, Host, Prefix, Router

POOLS: Key = ("topology", "pools")
_LAN, _LINK = 24, 30
_SHORTER = "give the others addresses with a shorter prefix"


class Addressing:
    """Assigns addresses domain by domain; what is wrong with them is added to `wrong`."""

    def __init__(
        self, drawing: Structure, pools: Pools, has_ipv6: bool, anycast: Sequence[Prefix], wrong: list[Finding]
    ) -> None:
        """`anycast`: subnets that may be in several domains."""
        self._drawing, self._pools, self._has_ipv6, self._anycast = drawing, pools, has_ipv6, anycast
        self._wrong = wrong
        self._count = 0
        self._ipv6_given: list[IPv6Network] = []
        self._taken: set[IPv4Address | IPv6Address] = set()

    def ports(self, domains: Iterable[Domain]) -> dict[Port, tuple[AnyInterface, ...]]:
        """The addresses of all ports, IPv4 first."""
        domains = list(domains)
        self._count = len(domains)
        self._ipv6_given = [subnet for domain in domains for subnet in _ipv6_of(domain)]
        self._taken = {one.ip for domain in domains for port in domain.ports for one in port.given}
        before = len(self._wrong)
        subnets = [self._subnet(domain) for domain in domains]
        self._check_owners(domains)
        self._check_overlaps(domains, subnets)
        if len(self._wrong) > before:
            return {}
        taken = [subnet for subnet in subnets if subnet is not None]
        free = {key: _Free(getattr(self._pools, key), taken) for key in ("lan", "link")}
        found: dict[Port, tuple[AnyInterface, ...]] = {}
        places = {cable: place for place, cable in enumerate(self._drawing.numbering)}
        numbered = sorted(zip(domains, subnets, strict=True), key=lambda one: _place(one[0], places))
        for number, (domain, subnet) in enumerate(numbered, 1):
            found |= self._domain(domain, subnet, free, number)
        return found

    def router_ids(self) -> dict[str, IPv4Address]:
        """The id of each router: its own, or the next of the pool."""
        routers = [name for name, node in self._drawing.nodes.items() if isinstance(node, Router)]
        given = {name: node.id for name, node in self._drawing.nodes.items() if isinstance(node, Router) and node.id}
        taken, pool = set(given.values()), self._pools.loopback.hosts()
        ids: dict[str, IPv4Address] = {}
        for name in routers:
            found = given.get(name) or next((one for one in pool if one not in taken), None)
            if found is None:
                self._exhausted("loopback", f"{len(routers)} routers")
                break
            ids[name] = found
        seen: dict[IPv4Address, str] = {}
        for name, one in ids.items():
            if one in seen:
                key: Key = ("topology", "nodes", name, "id")
                self._wrong.append(Finding(key, f"{seen[one]} has the same id", "an id of its own", "leave id out"))
            seen[one] = name
        return ids

    def _subnet(self, domain: Domain) -> IPv4Network | None:
        """The IPv4 subnet that the given addresses say; none if no IPv4 address is given."""
        for version in (6, 4):
            given = [(port, one) for port in domain.ports for one in port.given if one.version == version]
            if not given:
                continue
            first, subnet = given[0][0], given[0][1].network
            for port, one in given[1:]:
                if one.network != subnet:
                    what = f"{one} is not in the subnet of {first.node}, {subnet}"
                    why = "one subnet for all that a link, or a switch and its links, join"
                    self._refuse(port, what, why, f"write an address with /{subnet.prefixlen} in {subnet}")
        return next(
            (one.network for port in domain.ports for one in port.given if isinstance(one, IPv4Interface)), None
        )

    def _check_owners(self, domains: Iterable[Domain]) -> None:
        owners: dict[object, Port] = {}
        for number, port in ((number, port) for number, domain in enumerate(domains) for port in domain.ports):
            for one in port.given:
                place = number if one.network in self._anycast else None
                owner = owners.setdefault((one.ip, place), port)
                if owner != port:
                    what = f"{owner.node} has the same address, {one.ip}"
                    self._refuse(port, what, "an address of its own", "leave it out to have one assigned")

    def _check_overlaps(self, domains: list[Domain], subnets: list[IPv4Network | None]) -> None:
        """A subnet may be in two parts of a network that no node joins: nobody could take one for the other."""
        known: dict[tuple[int, int], list[tuple[Any, Domain]]] = {}
        for island, domain, four in zip(_islands(domains), domains, subnets, strict=True):
            own: list[IPv4Network | IPv6Network] = [*([four] if four else []), *_ipv6_of(domain)]
            for one in own:
                known.setdefault((island, one.version), []).append((one, domain))
        for several in known.values():
            several.sort(key=lambda one: (one[0].network_address, one[0].prefixlen))
            for (one, first), (other, second) in pairwise(several):
                if one.overlaps(other) and not (one == other and one in self._anycast):
                    what = f"its subnet, {other}, overlaps with {one} of {first.ports[0].node}"
                    why = "a subnet of its own: no link or switch joins them"
                    self._refuse(second.ports[0], what, why, "change one of the addresses")

    def _domain(
        self, domain: Domain, subnet: IPv4Network | None, free: Mapping[str, _Free], number: int
    ) -> dict[Port, tuple[AnyInterface, ...]]:
        key = "lan" if domain.has_switch else "link"
        count = len(domain.ports)
        if subnet is None:
            # The subnet's own address and its broadcast address are no host's.
            length = min(_LAN if domain.has_switch else _LINK, 32 - (count + 1).bit_length())
            subnet = free[key].take(length)
            if subnet is None:
                self._exhausted(key, f"a subnet /{length} for {', '.join(port.node for port in domain.ports[:3])}")
                return {}
        # A subnet of two places is that of an anycast, or the two are parts that no node joins.
        own = {one.ip for port in domain.ports for one in port.given}
        taken = own if subnet in self._anycast else self._taken
        free_hosts = (one for one in subnet.hosts() if one not in taken)
        six = self._ipv6(domain, number)
        taken_six = own if six in self._anycast else self._taken
        free_six = iter(()) if six is None else (one for one in six.hosts() if one not in taken_six)
        found: dict[Port, tuple[AnyInterface, ...]] = {}
        # Routers have the first addresses, as gateways often do.
        first = sorted(domain.ports, key=lambda port: not isinstance(self._drawing.nodes[port.node], Router))
        for port in first:
            four = [one for one in port.given if isinstance(one, IPv4Interface)]
            more = [one for one in port.given if isinstance(one, IPv6Interface)]
            if not four:
                address = next(free_hosts, None)
                if address is None:
                    what = f"{subnet} is too small for {count} interfaces"
                    self._refuse(port, what, "an address for each", _SHORTER)
                    return {}
                four = [IPv4Interface((address, subnet.prefixlen))]
            if not more and six is not None:
                host = next(free_six, None)
                if host is None:
                    self._refuse(port, f"{six} is too small for {count} interfaces", "an address for each", _SHORTER)
                    return {}
                more = [IPv6Interface((host, six.prefixlen))]
            found[port] = (*four, *more)
            self._taken.update(one.ip for one in found[port])
        return found

    def _ipv6(self, domain: Domain, number: int) -> IPv6Network | None:
        """The IPv6 subnet of a domain: that of given addresses, or else the one of its number, from 1.

        None if the network has no IPv6.
        """
        if not self._has_ipv6:
            return None
        if own := _ipv6_of(domain):
            return own[0]
        pool = self._pools.ipv6
        while pool.prefixlen <= 64 and number < 1 << (64 - pool.prefixlen):
            found = IPv6Network((int(pool.network_address) + (number << 64), 64))
            if not any(found.overlaps(subnet) for subnet in self._ipv6_given):
                return found
            number += self._count
        self._exhausted("ipv6", "a subnet /64 for each link and switch")
        return None

    def _exhausted(self, pool: str, what: str) -> None:
        size = getattr(self._pools, pool)
        default = Pools.model_fields[pool].default
        hint = f'write {pool} = "{default}"' if default.prefixlen < size.prefixlen else f"widen {pool}"
        self._wrong.append(Finding((*POOLS, pool), f"{size} is used up", what, hint))

    def _refuse(self, port: Port, what: str, why: str, hint: str) -> None:
        cable = self._drawing.cables[port.cable]
        node = self._drawing.nodes[port.node]
        at: Key = (*self._drawing.keys[port.cable], "addresses")
        if isinstance(node, Host) and node.address and not (cable.addresses and cable.addresses[port.end]):
            at = ("topology", "nodes", port.node, "address")
        self._wrong.append(Finding(at, f"{port.node}: {what}", why, hint))


def _islands(domains: Sequence[Domain]) -> list[int]:
    """For each domain the number of its island: hosts and routers join the domains in which they have ports."""
    roots = list(range(len(domains)))

    def root(number: int) -> int:
        while roots[number] != number:
            roots[number] = number = roots[roots[number]]
        return number

    first: dict[str, int] = {}
    for number, domain in enumerate(domains):
        for port in domain.ports:
            roots[root(number)] = root(first.setdefault(port.node, number))
    return list(map(root, range(len(domains))))


def _place(domain: Domain, places: Mapping[int, int]) -> int:
    """The place of a domain's first cable among those that are numbered; those that are not come last."""
    return places.get(domain.ports[0].cable, len(places))


def _ipv6_of(domain: Domain) -> list[IPv6Network]:
    """The IPv6 subnets of the addresses that the scenario gives in a domain, each once."""
    given = (one for port in domain.ports for one in port.given if isinstance(one, IPv6Interface))
    return list(dict.fromkeys(one.network for one in given))


class _Free:
    """Subnets of a pool, one after another, without those that are taken."""

    def __init__(self, pool: IPv4Network, taken: Iterable[IPv4Network]) -> None:
        self._pool, self._next = pool, int(pool.network_address)
        self._taken = sorted((one for one in taken if one.overlaps(pool)), key=lambda one: int(one.broadcast_address))

    def take(self, length: int) -> IPv4Network | None:
        """The next free subnet of this prefix length; none if there is no more."""
        size = 1 << (32 - length)
        while True:
            start = -(-self._next // size) * size
            if length < self._pool.prefixlen or start + size - 1 > int(self._pool.broadcast_address):
                return None
            found = IPv4Network((start, length))
            blocked = next((one for one in self._taken if one.overlaps(found)), None)
            self._next = start + size if blocked is None else max(int(blocked.broadcast_address) + 1, start + size)
            if blocked is None:
                return found
