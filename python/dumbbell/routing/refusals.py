"""Checks the keys of routers, beyond the form of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.routing.model import Network, Relation, Router
from dumbbell.routing.registry import DAEMONS, GENERATED
from dumbbell.routing.sessions import internal_pairs, sessions

_OPPOSITE: dict[Relation, Relation] = {"customer": "provider", "peer": "peer", "provider": "customer"}
_KEYS: dict[Relation, str] = {"customer": "customers", "peer": "peers", "provider": "providers"}


@dataclass(frozen=True)
class Refusal:
    """A key of a router that cannot be obeyed."""

    router: str
    key: str
    wrong: str
    expected: str = ""
    hint: str = ""


def refusals(network: Network) -> list[Refusal]:
    """All that is wrong, in the order of the routers."""
    return [found for router in network.routers for found in _of(router, network)]


def _of(router: Router, network: Network) -> Iterator[Refusal]:
    for name in router.protocols:
        if name not in DAEMONS:
            expected = f"one of {', '.join(DAEMONS)}"
            yield Refusal(router.name, "routing", f"no protocol {name}", expected, nearest(name, DAEMONS))
        elif name not in GENERATED and router.own is None:
            hint = f'write the configuration of {router.name} into a file: frr = "{router.name}.conf"'
            yield Refusal(router.name, "routing", f"no configuration of {name} can be worked out", "", hint)
    if router.own is None:
        yield from _bgp(router, network)
        yield from _families(router)


def _bgp(router: Router, network: Network) -> Iterator[Refusal]:
    name = router.name
    if not router.speaks("bgp"):
        given = {"networks": router.networks, "clients": router.clients, "relations": router.relations}
        for key in (key for key, value in given.items() if value):
            keys = sorted(_KEYS[one] for one in set(router.relations.values())) if key == "relations" else [key]
            for one in keys:
                yield Refusal(name, one, f"{name} speaks no BGP", "", 'add "bgp" to its routing, or leave this out')
        return
    if router.asn is None:
        yield Refusal(name, "routing", "BGP without an AS", "the number of its AS", f"{name}: asn = 64512")
        return
    outside = {one.peer.name for one in sessions(router, network) if not one.internal}
    for neighbour, relation in router.relations.items():
        if neighbour not in outside:
            expected = f"one of {', '.join(sorted(outside))}" if outside else ""
            wrong = f"{neighbour} is not a neighbour of {name} in another AS that speaks BGP"
            yield Refusal(name, _KEYS[relation], wrong, expected)
            continue
        back = network.by_name[neighbour].relations.get(name)
        if back is not None and back != _OPPOSITE[relation]:
            wrong = f"{neighbour} calls {name} its {back}"
            yield Refusal(name, _KEYS[relation], wrong, f"the {_OPPOSITE[back]} of {name}", "one of the two is enough")
    inside = {one.name for one in network.routers if one.asn == router.asn and one.speaks("bgp")} - {name}
    for client in sorted(router.clients - inside):
        wrong = f"{client} is not another router of AS {router.asn} that speaks BGP"
        yield Refusal(name, "clients", wrong, f"one of {', '.join(sorted(inside))}" if inside else "")
    reached = {one.peer.name for one in sessions(router, network)}
    for peer in internal_pairs(router, network):
        if peer.name not in reached and peer.name > name:
            wrong = (
                f"{name} and {peer.name} are both in AS {router.asn}, and neither a link nor a protocol connects them"
            )
            hint = 'add "ospf", "isis" or "rip" to the routing of all routers of the AS, or name a reflector\'s clients'
            yield Refusal(name, "routing", wrong, "", hint)


def _families(router: Router) -> Iterator[Refusal]:
    for name, version in (("ospf6", 6), ("ripng", 6), ("ospf", 4), ("rip", 4)):
        if router.speaks(name) and not any(interface.of(version) for interface in router.interfaces):
            hint = "topology.ipv6 = true gives every interface an IPv6 address" if version == 6 else ""
            yield Refusal(router.name, "routing", f"{name} on a router without IPv{version} addresses", "", hint)


def completed(network: Network) -> Network:
    """The network with relations on both sides: whose neighbour is a customer is that neighbour's provider."""
    found: dict[str, dict[str, Relation]] = {router.name: dict(router.relations) for router in network.routers}
    for router in network.routers:
        for neighbour, relation in router.relations.items():
            if neighbour in found and network.by_name[neighbour].speaks("bgp"):
                found[neighbour].setdefault(router.name, _OPPOSITE[relation])
    return replace(network, routers=tuple(replace(one, relations=found[one.name]) for one in network.routers))
