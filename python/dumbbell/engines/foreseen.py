"""Warnings of `dumbbell plan` and `dumbbell run`: a run will meet these although nothing is wrong with its scenario."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Final

from dumbbell.engines.protocol import Engine
from dumbbell.errors import Foreseen, Problem
from dumbbell.plan.network import network
from dumbbell.plan.offered import packets_per_s
from dumbbell.plan.parts import kind
from dumbbell.plan.types import Flow, Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding
from dumbbell.units.spans import span

LONG_S: Final = 60.0
"""The shortest time of a run, in seconds, that is worth a warning."""


def warn(engine: Engine, scenario: Scenario, plan: Plan) -> None:
    """Warn of all that is foreseen of a run."""
    for problem in foreseen(scenario, plan, engine):
        warnings.warn(problem.text(), Foreseen, stacklevel=2)


def foreseen(scenario: Scenario, plan: Plan, engine: Engine | None = None) -> Iterator[Problem]:
    """Packets whose TTL runs out, paths without a rate, and runs of `engine` that take long."""
    entries = {one.id: one.entry for one in resolve(scenario).connections}
    changed = {event.link.name for event in plan.events}
    found: dict[str, Finding] = {}
    for flow in plan.flows:
        if (finding := _ttl(plan, flow, entries[flow.id]) or _rate(plan, flow, changed)) is not None:
            # Flows between the same ends have the same path.
            found.setdefault(finding.wrong, finding)
    yield from map(scenario.source.problem, found.values())
    if engine is not None and not engine.capabilities.real_time:
        seconds = engine.capabilities.alone_s(plan)
        if seconds >= LONG_S:
            per_s = packets_per_s(plan) or 0.0
            packets = f"flows that fill their paths send {per_s * plan.duration_ns / 1e9:,.0f} packets" if per_s else ""
            hint = "lower rates or the duration; Ctrl-C stops the run and keeps what it has measured"
            yield Problem(f"the run may take {span(seconds)}", packets, hint)


def _ttl(plan: Plan, flow: Flow, entry: int) -> Finding | None:
    router = network(plan).ttl_ends(flow)
    if router is None:
        return None
    wrong = f"nothing gets from {flow.from_} to {flow.to} and back: the TTL of packets runs out at {router}"
    hint = 'shorten the path, or raise the TTL: hosts.sysctl."net.ipv4.ip_default_ttl" = "255"'
    return Finding(("flows", entry), wrong, "fewer routers on its path than its TTL", hint)


def _rate(plan: Plan, flow: Flow, changed: set[str]) -> Finding | None:
    there = network(plan).there(flow)
    limited = any(link.rate_bps or link.slots or link.policer or link.name in changed for link in there)
    if limited or not kind(flow).is_bulk or kind(flow).rate_bps(flow.workload):
        return None
    wrong = f"no link from {flow.from_} to {flow.to} has a rate: TCP goes as fast as this machine computes"
    return Finding(("topology",), wrong, "a link with a rate", 'write rate = "100 Mbit/s" at a link of the path')
