"""Addresses and routes of the scenario that a node does not have now, and the commands that give them back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from ipaddress import ip_address, ip_interface, ip_network

from dumbbell.labs.why.case import Case
from dumbbell.labs.why.facts import Route


def planned_route(case: Case, node: str, to: str) -> Route | None:
    """The route of the scenario by which a node sends packets for `to`: the one with the longest prefix."""
    return _longest(_planned(case, node, [case.ip]), case.address(to))


def taken_route(case: Case, node: str, to: str) -> Route | None:
    """The route by which it does now."""
    return _longest(case.facts[node].routes, case.address(to))


def _longest(routes: Iterable[Route], address: str) -> Route | None:
    held = ip_address(address)
    found = [one for one in routes if held in ip_network(one.to)]
    return max(found, key=lambda one: ip_network(one.to).prefixlen, default=None)


def _planned(case: Case, node: str, versions: Collection[int]) -> list[Route]:
    routes = case.network.planned[node].get("routes") or ()
    return [Route(one["to"], tuple(one["via"])) for one in routes if one["via"] and _version(one["to"]) in versions]


def replaced(node: str, route: Route) -> str:
    """The command that makes it a node's route."""
    hops = " ".join(f"nexthop via {hop}" for hop in route.via) if len(route.via) > 1 else f"via {route.via[0]}"
    version = " -6" if ":" in route.to else ""
    return f"{node} ip{version} route replace {route.to} {hops}"


def _version(address: str) -> int:
    return 6 if ":" in address else 4


def addresses(case: Case, node: str, interface: str, versions: Collection[int] = ()) -> list[str]:
    """The addresses of the scenario that an interface lacks; by default, those of the case's version of IP."""
    planned = dict(case.network.interfaces(node)).get(interface, [])
    known = case.facts[node].interfaces.get(interface)
    held = set() if known is None else set(known.addresses)
    own = versions or [case.ip]
    return [one for one in planned if _version(one) in own and "/" in one and one not in held]


def addresses_again(case: Case, node: str, interface: str, versions: Collection[int] = ()) -> Iterator[str]:
    """The commands that give an interface its addresses: wrong prefixes go first."""
    known = case.facts[node].interfaces.get(interface)
    for address in addresses(case, node, interface, versions):
        alone = address.partition("/")[0]
        for held in () if known is None else known.addresses:
            if held.partition("/")[0] == alone:
                yield f"{node} ip addr del {held} dev {interface}"
        yield f"{node} ip addr add {address} dev {interface}{' nodad' if ':' in address else ''}"


def routes_again(case: Case, node: str, interface: str, versions: Collection[int] = ()) -> Iterator[str]:
    """The commands that give back what an interface that was down has lost: its addresses, and static routes by it."""
    yield from addresses_again(case, node, interface, versions)
    own = [ip_interface(one).network for one in dict(case.network.interfaces(node)).get(interface, []) if "/" in one]
    for route in _planned(case, node, versions or [case.ip]):
        is_lost = route not in case.facts[node].routes or addresses(case, node, interface, versions)
        if is_lost and any(ip_address(hop) in network for hop in route.via for network in own):
            yield replaced(node, route)
