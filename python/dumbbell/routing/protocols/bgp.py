"""BGP between and inside autonomous systems (RFC 4271)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dumbbell.routing.model import EVERYWHERE, Network, Prefix, Relation, Router
from dumbbell.routing.propagation import Teaching, propagated
from dumbbell.routing.protocol import Protocol, block
from dumbbell.routing.protocols.bfd import PROFILE
from dumbbell.routing.sessions import Session, sessions

PREFERENCE: Final[Mapping[Relation | None, int]] = {"customer": 300, "peer": 200, None: 100, "provider": 50}
"""LOCAL_PREF of a route by the neighbour that it came from: what earns money comes before what costs money."""
_MARK: Final[Mapping[Relation, int]] = {"customer": 1, "peer": 2, "provider": 3}
"""Last part of the large community (RFC 8092) that says in an AS where a route came from."""
_FAMILIES: Final = {4: "ipv4 unicast", 6: "ipv6 unicast"}


class Bgp(Protocol):
    """BGP-4: external sessions to the routers of other ASes on its links, internal ones to those of its own."""

    name = "bgp"
    daemon = "bgpd"

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        own = sessions(router, network)
        fast = router.timers == "fast"
        lines = [
            f"bgp router-id {router.id}",
            "no bgp ebgp-requires-policy",
            "no bgp default ipv4-unicast",
            "no bgp network import-check",
            *(["timers bgp 1 3", "coalesce-time 0"] if fast else []),
        ]
        for session in own:
            words = [f"remote-as {session.peer.asn}", f"description {session.peer.name}"]
            if session.by_loopback:
                words.append("update-source lo")
            if fast:
                words += ["timers connect 1", "advertisement-interval 0"]
            if router.speaks("bfd") and session.peer.speaks("bfd"):
                words += ["bfd", f"bfd profile {PROFILE}"]
            lines += [f"neighbor {session.address} {word}" for word in words]
        for version, family in _FAMILIES.items():
            lines += _family(router, network, [one for one in own if one.address.version == version], version, family)
        return [*_policies(router, own), *block(f"router bgp {router.asn}", *lines)]

    def learned(self, network: Network) -> Mapping[str, frozenset[Prefix]]:
        """See `Protocol`: what is left after the policies of all routers on the way."""
        speakers = {one.name: one for one in network.routers if one.speaks(self.name) and one.own is None}
        found: dict[str, set[Prefix]] = {name: set() for name in speakers}
        for version in _FAMILIES:
            taught: dict[str, list[Teaching]] = {name: [] for name in speakers}
            for name, router in speakers.items():
                for session in sessions(router, network):
                    if session.peer.name in speakers and session.address.version == version:
                        taught[name].append(_teaching(session))
            origins = {name: announced(router, network, version) for name, router in speakers.items()}
            for name, prefixes in propagated({n: r.asn or 0 for n, r in speakers.items()}, taught, origins).items():
                found[name] |= prefixes
        return {name: frozenset(prefixes) - speakers[name].connected for name, prefixes in found.items()}


def announced(router: Router, network: Network, version: int) -> frozenset[Prefix]:
    """The networks of an IP version that a router originates."""
    networks = router.networks
    if networks is None:
        lans = [interface for interface in router.interfaces if interface.segment in network.lans]
        networks = tuple(address.network for interface in lans for address in interface.addresses)
    if router.nat:
        networks = (*networks, EVERYWHERE)
    return frozenset(one for one in networks if one.version == version)


def _family(router: Router, network: Network, own: list[Session], version: int, family: str) -> Iterator[str]:
    lines = [f"network {prefix}" for prefix in sorted(announced(router, network, version), key=str)]
    for session in own:
        words = ["activate"]
        if session.internal:
            words.append("next-hop-self")
        if session.peer.name in router.clients:
            words.append("route-reflector-client")
        if session.relation is not None:
            words.append(f"route-map from-{session.relation} in")
        if session.relation in ("peer", "provider"):
            words.append("route-map own-and-customers out")
        lines += [f"neighbor {session.address} {word}" for word in words]
    if lines:
        yield f"address-family {family}"
        yield from (f" {line}" for line in lines)
        yield "exit-address-family"


def _policies(router: Router, own: list[Session]) -> list[str]:
    """The route maps by relation: whom a router prefers, and whose routes it passes on (RFC 7454, section 9)."""
    lines: list[str] = []
    for relation in sorted({session.relation for session in own if session.relation is not None}):
        lines += block(
            f"route-map from-{relation} permit 10",
            f"set local-preference {PREFERENCE[relation]}",
            f"set large-community {router.asn}:0:{_MARK[relation]} additive",
        )
    if not lines:
        return []
    for number, relation in ((5, "peer"), (10, "provider")):
        marked = f"permit {router.asn}:0:{_MARK[relation]}"
        lines.append(f"bgp large-community-list standard not-paid-for seq {number} {marked}")
    lines += block("route-map own-and-customers deny 10", "match large-community not-paid-for")
    return lines + block("route-map own-and-customers permit 20")


def _teaching(session: Session) -> Teaching:
    """The routes that a session lets through to its peer."""
    back: Relation | None = session.peer.relations.get(session.router.name)
    return Teaching(
        to=session.peer.name,
        internal=session.internal,
        to_client=session.peer.name in session.router.clients,
        from_client=session.router.name in session.peer.clients,
        preference=PREFERENCE[back],
        withholds=(PREFERENCE["peer"], PREFERENCE["provider"]) if session.relation in ("peer", "provider") else (),
    )
