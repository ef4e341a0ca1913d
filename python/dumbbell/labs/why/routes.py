"""Routes between two nodes, both ways: nodes without one, with a wrong one, or with a policy against packets."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from dumbbell.labs import ways
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding
from dumbbell.labs.why.lacking import planned_route, replaced, taken_route


def routes(case: Case, explained: Collection[str]) -> Iterator[Finding]:
    """Faults of routes at nodes that nothing else explains.

    Packets may not come to a node with a fault, for another one's fault before it: each node is asked by itself, too.
    """
    for (from_, to), way in zip(case.pairs, (case.there, case.back), strict=True):
        if way.circle:
            inside = way.circle[:-1]
            mends = [mend for node in inside for mend in _again(case, node, to)]
            text = f"packets from {from_} to {to} run in a circle: {' -> '.join(way.circle)}"
            yield Finding(text, tuple(mends), tuple(inside))
        asked = {step.node for step in way.steps}
        last = way.last.node
        if last != to and case.network.kind(last) == "host" and len(way.steps) > 1:
            before = way.steps[-2].node
            text = f"{before} sends packets for {to} to {last}, which is a host, and does not send them on"
            yield Finding(text, tuple(_again(case, before, to)), (before, last))
        elif last not in explained:
            yield from _ending(case, way.last, from_, to)
        for node in case.nodes:
            if node in asked or node in explained or node == to or not case.is_needed(node):
                continue
            step, _ = ways.hop(case.lab, node, to, case.ip)
            yield from _ending(case, step, from_, to)


def _ending(case: Case, step: ways.Step, from_: str, to: str) -> Iterator[Finding]:
    """The reason for which packets do not leave a node; none if they do."""
    node, address = step.node, case.address(to)
    if step.nobody:
        via = "" if step.nobody == address else f" by {step.nobody}"
        text = f"{node} sends packets for {to}{via} into {step.leaves}, where no node has the address {step.nobody}"
        yield Finding(text, tuple(_again(case, node, to)), (node,))
    elif step.is_local and node != to:
        yield Finding(f"{node} takes packets for {to} itself: it has the address {address}, too", (), (node,))
    elif step.refusal and (kind := refusing(case, node, to)):
        text = f"{node} has a route that refuses packets for {to}: {kind}"
        yield Finding(text, (f"{node} ip -{case.ip} route del {kind}", *_again(case, node, to)), (node,))
    elif step.refusal and _UNREACHABLE not in step.refusal and (rules := ways.policies(case.lab, node, case.ip)):
        text = f"{node} drops packets from {from_} to {to} by a policy: {'; '.join(rules)} ({step.refusal})"
        yield Finding(text, tuple(f"{node} ip -{case.ip} rule del {rule}" for rule in rules), (node,))
    elif step.refusal and not ways.has_route(case.lab, node, to, case.ip):
        text = f"{node} has no route to {to} ({address}): {step.refusal}"
        yield Finding(text, tuple(_again(case, node, to)), (node,))
    elif step.refusal and (names := _filters(case, node, step.came_in)):
        text = f"{node} drops packets from {from_}, whose address it would not reach by {step.came_in}: {names[0]} is 1"
        yield Finding(text, tuple(f"{node} sysctl -qw {name}=0" for name in names), (node,))
    elif step.refusal:
        where = f" at {step.came_in}" if step.came_in else ""
        what = f"send packets to {to}" if node == from_ else f"take packets from {from_}{where}"
        yield Finding(f"{node} does not {what}: {step.refusal}", (), (node,))


def refusing(case: Case, node: str, to: str) -> str:
    """The route of a node that refuses packets for `to`: `blackhole 10.0.0.0/24`; empty if there is none."""
    command = ["ip", f"-{case.ip}", "route", "show", "to", "match", case.address(to)]
    found = [line.split() for line in case.lab[node].run(command).stdout.splitlines() if line.strip()]
    kinds = [words[:2] for words in found if words[0] in ("blackhole", "prohibit", "unreachable", "throw")]
    return " ".join(kinds[-1]) if kinds else ""


def _filters(case: Case, node: str, came_in: str | None) -> list[str]:
    """The settings by which a node drops packets whose source it would reach by another interface (RFC 3704)."""
    names = [f"net.ipv4.conf.{interface}.rp_filter" for interface in ("all", came_in)]
    return [name for name in names if case.ip == 4 and case.facts[node].sysctl(name) == 1]


_BY_HAND: Final = ("boot", "static")
_UNREACHABLE: Final = "Network is unreachable"
"""The kernel's answer if no table has a route; a policy has others."""


def _again(case: Case, node: str, to: str) -> Iterator[str]:
    """The commands that give a node the route of the scenario, if it takes another one now, or none."""
    planned, taken = planned_route(case, node, to), taken_route(case, node, to)
    if planned is None and taken is None:
        return
    if taken is not None and (planned is None or taken.to != planned.to) and taken.by in _BY_HAND:
        yield f"{node} ip -{case.ip} route del {taken.to}"
    if planned is not None and planned not in case.facts[node].routes:
        yield replaced(node, planned)
