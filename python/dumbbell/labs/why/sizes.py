"""The largest packets of a node that small ones pass: an MTU on the way into which they do not fit."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.labs import pings, ways
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding
from dumbbell.labs.why.packets import PAIRS, PROBES, firewall, traced


def large(case: Case) -> Iterator[tuple[Finding, bool]]:
    """A node on the way into whose link the sender's largest packets do not fit; and whether they are lost."""
    lab, way, ip = case.lab, case.there, case.ip
    largest = None if way.steps[0].leaves is None else ways.mtu(lab, case.from_, way.steps[0].leaves)
    if largest is None:
        return
    for _ in range(PROBES):
        if pings.ping_all(lab.path, [case.from_, case.to], case.wait_s, ip, largest).rtt_ns[0][1] is not None:
            return
    seen = traced(case, largest)
    asked = [echo for echo in seen if echo.is_request and echo.pair == PAIRS[0]]
    if not asked or asked[-1].is_sent:
        text = f"packets of {largest} bytes from {case.from_} to {case.to} are lost, and smaller ones are not"
        yield Finding(text), True
        return
    node = asked[-1].node
    if node == case.to:
        text = f"{node} takes packets of {largest} bytes from {case.from_}, and answers of this size are lost"
        yield Finding(text), True
        return
    leaves = next((step.leaves for step in way.steps if step.node == node), None)
    fits = None if leaves is None else ways.mtu(lab, node, leaves)
    if fits is None or fits >= largest:
        rules, mends = firewall(case, node)
        text = f"{node} takes packets of {largest} bytes from {case.from_}, and does not send them on"
        yield Finding(f"{text}; its firewall has: {rules}" if rules else text, mends, (node,)), True
        return
    known = ways.known_mtu(lab, case.from_, case.to, ip)
    what = f"packets of more than {fits} bytes from {case.from_} to {case.to} do not fit into {leaves} of {node}"
    if known is not None and known <= fits:
        yield Finding(f"{what}; {case.from_} knows it by ICMP, and sends smaller ones"), False
    else:
        mends = tuple(f"{one} ip link set {name} mtu {largest}" for one, name in _joined(case, node, str(leaves)))
        lost = f"{what}, and {case.from_} does not hear of it: those that may not be fragmented (DF) are lost"
        yield Finding(lost, mends, (node,)), True


def _joined(case: Case, node: str, leaves: str) -> list[tuple[str, str]]:
    return [(node, leaves), *((name, interface) for name, interface, _ in case.network.joined(node, leaves))]
