"""Links and interfaces between two nodes: what is down, and links that lose or delay what they carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.labs import bridges
from dumbbell.labs.network import Cable
from dumbbell.labs.why.case import Case, took_ns
from dumbbell.labs.why.finding import Finding
from dumbbell.labs.why.lacking import routes_again
from dumbbell.plan import words
from dumbbell.plan.types import Link
from dumbbell.units import Rate, Time

_CERTAIN: Final = 0.5
"""A link that loses this share of packets explains lost pings by itself."""


def down(case: Case) -> Iterator[Finding]:
    """Links and interfaces that are down, if no way without them is left or packets are still sent into them."""
    pulled = {name for name, _, _ in case.directions() if not case.states[name].up}
    off = {(node, name) for node, name in case.interfaces if not _is_up(case, node, name)}
    dead = {link for cable in case.cables for link in cable.links if link in pulled or off & set(cable.places)}
    if not dead:
        return
    every = not (_leads(case, case.from_, case.to, dead) and _leads(case, case.to, case.from_, dead))
    taken = {*case.crossed(case.there), *case.crossed(case.back)}
    for cable in case.cables:
        if every or taken & set(cable.links):
            yield from _pulled(case, cable, [name for name in cable.links if name in pulled])
            for node, name in cable.places:
                if (node, name) in off:
                    yield _off(case, node, name, cable)


def _is_up(case: Case, node: str, name: str) -> bool:
    known = case.facts[node].interfaces.get(name)
    return known is not None and known.is_up


def _pulled(case: Case, cable: Cable, names: Sequence[str]) -> Iterator[Finding]:
    if names:
        ends = [f"{name} ({case.states[name].from_} -> {case.states[name].to})" for name in names]
        text = f"link {ends[0]} is down" if len(ends) == 1 else f"links {' and '.join(ends)} are down"
        yield Finding(text, tuple(f"link {name} up" for name in names), (), cable.links)


def _off(case: Case, node: str, name: str, cable: Cable) -> Finding:
    if name not in case.facts[node].interfaces:
        return _renamed(case, node, name, cable)
    mends = (f"{node} ip link set {name} up", *routes_again(case, node, name, (4, 6)))
    return Finding(f"{node}'s interface {name} is down", mends, (node,), cable.links)


def _renamed(case: Case, node: str, name: str, cable: Cable) -> Finding:
    """An interface that has another name now, by which its hardware address is known, or is gone."""
    planned = case.network.planned[node].get("interfaces") or ()
    mac = next((one["mac"] for one in planned if one["name"] == name), None)
    now = next((one for one in case.facts[node].interfaces.values() if one.mac == mac), None)
    if now is None:
        return Finding(f"{node} has no interface {name}", (), (node,), cable.links)
    words = (f"{now.name} down", f"{now.name} name {name}", f"{name} up")
    # Addresses of IPv4 stay while it is down.
    kept = [f"{node} ip addr add {one} dev {name}" for one in now.addresses if ":" not in one]
    again = [mend for mend in routes_again(case, node, name, (4, 6)) if mend not in kept]
    mends = (*(f"{node} ip link set {word}" for word in words), *again)
    return Finding(f"{node}'s interface {name} has another name now: {now.name}", mends, (node,), cable.links)


def _leads(case: Case, from_: str, to: str, dead: set[str]) -> bool:
    """Whether links lead from a node to another without those that are dead."""
    reached, queue = {from_}, [from_]
    while queue:
        node = queue.pop()
        for cable in case.cables:
            if node not in cable.ends or cable in case.blocked or (other := cable.other(node)) in reached:
                continue
            if any(link not in dead for link in cable.towards(other)):
                reached.add(other)
                queue.append(other)
    return to in reached


def impaired(case: Case) -> Iterator[Finding]:
    """Links on the way that lose, corrupt or delay packets so much that pings fail."""
    for way in (case.there, case.back):
        links = [case.states[name] for name in case.crossed(way)]
        slow = [link for link in links if took_ns(link) >= case.wait_s * 1e9 / 2]
        for link in links:
            yield from _lossy(case, link)
        for link in slow:
            text = f"link {link.name} ({link.from_} -> {link.to}) takes {Time(took_ns(link))} for a ping"
            yield Finding(f"{text}, and pings wait {case.wait_s:.1f} s", _as_planned(case, link), (), (link.name,))


def _lossy(case: Case, link: Link) -> Iterator[Finding]:
    where = f"link {link.name} ({link.from_} -> {link.to})"
    chances = [getattr(loss, "probability", 0.0) for loss in (*link.loss_before, *link.loss_after)]
    if max(chances, default=0) >= _CERTAIN:
        yield Finding(f"{where} loses packets: {words.losses(link)}", (f"link {link.name} loss=0 %",), (), (link.name,))
    if link.corruption is not None and link.corruption.probability >= _CERTAIN:
        said = f"{where} corrupts {words.percent(link.corruption.probability)} of packets"
        yield Finding(said, (f"link {link.name} corrupt=0 %",), (), (link.name,))


def _as_planned(case: Case, link: Link) -> tuple[str, ...]:
    """The orders that give a link the rate and the delay of the scenario."""
    plan = case.planned_links[link.name]
    own = []
    if plan.delay_ns != link.delay_ns:
        own.append(f"delay={Time(plan.delay_ns)}")
    if plan.rate_bps != link.rate_bps:
        own.append(f"rate={'unlimited' if plan.rate_bps is None else Rate(plan.rate_bps)}")
    return (f"link {link.name} {' '.join(own)}",) if own else ()


def ports(case: Case) -> Iterator[Finding]:
    """Ports of bridges on the way that wait, and VLANs that part the two nodes."""
    waiting, known = bridges.idle(case.lab), list(bridges.ports(case.lab))
    names = [name for name, _, _ in case.directions() if name in waiting]
    blocked = {link for cable in case.blocked for link in cable.links}
    for name in names:
        if name not in blocked:
            yield Finding(f"link {name}: {'; '.join(waiting[name])}", (), (), (name,))
    own = {
        node: next((port for port in known if port.cable.other(port.bridge) == node and port.vlans), None)
        for node in (case.from_, case.to)
    }
    first, second = own[case.from_], own[case.to]
    if first is None or second is None or first.vlans == second.vlans or len(case.there.steps) > 2:
        return
    said = [f"{node} is in VLAN {port.vlans[0]} at {port.bridge}" for node, port in own.items() if port and port.vlans]
    yield Finding(f"{' and '.join(said)}, and no router joins them", (), (), tuple(names))
