"""Small networks of routers for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, ip_interface
from typing import Any

from dumbbell.routing.model import Interface, Network, Router


def network(
    routers: Mapping[str, Mapping[str, Any]],
    links: Iterable[tuple[str, str]],
    hosts: Iterable[str] = (),
    *,
    ipv6: bool = False,
    costs: Mapping[tuple[str, str], int] | None = None,
) -> Network:
    """Routers with keys of `Router`, links between them, and a LAN with a host at each of `hosts`, in their order.

    Link n (from 1) is 10.0.n.0/24, LAN n is 10.1.n.0/24; the router's id is 10.255.0.n.
    """
    ports: dict[str, list[Interface]] = {name: [] for name in routers}

    def plug(name: str, segment: str, subnet: str, subnet6: str, last: int, cost: int = 1) -> None:
        texts = [f"{subnet}.{last}/24", *([f"{subnet6}::{last}/64"] if ipv6 else [])]
        own = ports[name]
        own.append(Interface(f"eth{len(own)}", segment, tuple(map(ip_interface, texts)), cost))

    for number, (a, b) in enumerate(links, 1):
        for last, name in enumerate((a, b), 1):
            cost = (costs or {}).get((a, b), 1)
            plug(name, f"{a}-{b}", f"10.0.{number}", f"fd00:0:0:{number}", last, cost)
    lans = []
    for number, name in enumerate(hosts, 1):
        lans.append(f"lan{number}")
        plug(name, lans[-1], f"10.1.{number}", f"fd00:0:1:{number}", 1)
    made = [
        Router(name=name, id=IPv4Address(f"10.255.0.{i}"), interfaces=tuple(ports[name]), **keys)
        for i, (name, keys) in enumerate(routers.items(), 1)
    ]
    return Network(tuple(made), frozenset(lans))


def bgp(asn: int, **keys: Any) -> dict[str, Any]:
    """The keys of a router that speaks BGP."""
    return {"asn": asn, "protocols": ("bgp", *keys.pop("also", ()))} | keys
