"""The routing daemons of a drawn network's routers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address

from dumbbell.routing import Configuration, configurations
from dumbbell.routing.model import Interface, Network, Own, Relation, Router
from dumbbell.routing.refusals import completed, refusals
from dumbbell.scenario.resolve.drawn.interfaces import Domain, Port
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology import nodes
from dumbbell.scenario.topology.drawing import Structure
from dumbbell.scenario.topology.nodes import AnyInterface


def routed(
    drawing: Structure,
    joined: Sequence[Domain],
    addresses: Mapping[Port, tuple[AnyInterface, ...]],
    ids: Mapping[str, IPv4Address],
    wrong: list[Finding],
) -> dict[str, Configuration]:
    """Name of a router with daemons -> what it runs; what is wrong with routers' keys is added to `wrong`."""
    network = completed(_network(drawing, joined, addresses, ids))
    found = [
        Finding(("topology", "nodes", one.router, one.key), one.wrong, one.expected, one.hint)
        for one in refusals(network)
    ]
    wrong += found
    return {} if found else configurations(network)


def _network(
    drawing: Structure,
    joined: Sequence[Domain],
    addresses: Mapping[Port, tuple[AnyInterface, ...]],
    ids: Mapping[str, IPv4Address],
) -> Network:
    interfaces: dict[str, list[Interface]] = {name: [] for name in ids}
    lans = set()
    for number, domain in enumerate(joined):
        segment = str(number)
        for port in domain.ports:
            if port.node in ids:
                cost = drawing.cables[port.cable].cost
                interfaces[port.node].append(Interface(port.name, segment, addresses[port], cost))
            else:
                lans.add(segment)
    return Network(tuple(_routers(drawing, interfaces, ids)), frozenset(lans))


def _routers(
    drawing: Structure, interfaces: Mapping[str, list[Interface]], ids: Mapping[str, IPv4Address]
) -> Iterator[Router]:
    for name, router_id in ids.items():
        node = drawing.nodes[name]
        assert isinstance(node, nodes.Router)
        named: dict[Relation, list[str]] = {"customer": node.customers, "peer": node.peers, "provider": node.providers}
        yield Router(
            name=name,
            id=router_id,
            # By number, as the kernel has them: a domain may have come earlier by another's cable.
            interfaces=tuple(sorted(interfaces[name], key=lambda one: int(one.name.removeprefix("eth")))),
            protocols=tuple(node.routing),
            asn=node.asn,
            networks=None if node.networks is None else tuple(node.networks),
            relations={other: relation for relation, others in named.items() for other in others},
            clients=frozenset(node.clients),
            timers=node.timers,
            own=_own(node),
            nat=node.nat,
        )


def _own(node: nodes.Router) -> Own | None:
    """The configuration that takes the place of a generated one."""
    if node.bare:
        return Own("", "")
    return None if node.frr is None else Own(node.frr.text, node.frr.name)
