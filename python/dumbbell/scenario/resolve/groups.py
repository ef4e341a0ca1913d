"""Checks of entries that make many connections."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.flows import Flow
from dumbbell.scenario.traffic.kinds.flow import MOST_CONNECTIONS, AnyFlow
from dumbbell.units import Time


def check_entries(scenario: Scenario) -> Iterator[Finding]:
    """Problems of single entries, and of the number of all connections."""
    found = [
        finding for i, flow in enumerate(scenario.flows) for finding in _entry(("flows", i), flow, scenario.duration)
    ]
    total = sum(flow.number for flow in scenario.flows)
    if total > MOST_CONNECTIONS:
        i = max(range(len(scenario.flows)), key=lambda i: scenario.flows[i].number)
        found.append(Finding(("flows", i, "connections"), f"{total} in all", f"at most {MOST_CONNECTIONS} in all"))
    yield from found


def _entry(at: Key, flow: Flow, end: Time) -> Iterator[Finding]:
    if flow.connections is None:
        yield from _alone(at, flow)
    if flow.arrivals == "poisson" and not flow.gap:
        yield Finding((*at, "arrivals"), "without a gap, all start at once", "gap, the mean", 'add gap = "0.1 s"')
    if flow.port is not None and flow.port + flow.number - 1 > 65535:
        what = f"the last of {flow.connections} connections would have port {flow.port + flow.number - 1}"
        yield Finding((*at, "port"), what, "ports up to 65535", "leave port out")
    yield from _starts(at, flow, end)


def _alone(at: Key, flow: AnyFlow) -> Iterator[Finding]:
    """Problems with keys that need several connections."""
    for key in ("gap", "arrivals", "mix", "sizes"):
        if key in flow.model_fields_set:
            yield Finding((*at, key), "there is one connection only", "connections, too", "add connections = 10")
    for key, end in (("from", flow.from_), ("to", flow.to)):
        if end.endswith("*"):
            yield Finding((*at, key), "one flow is between two hosts", "a host", "add connections = 10 for several")


def _starts(at: Key, flow: Flow, end: Time) -> Iterator[Finding]:
    stop = end if flow.stop is None else min(flow.stop, end)
    last = flow.start + (flow.number - 1) * flow.gap
    if flow.arrivals == "fixed" and flow.start < stop <= last:
        what = f"the last of {flow.connections} connections would start at {Time(last)}, after the end"
        yield Finding((*at, "gap"), what, f"starts before {stop}", "lower gap or connections, or raise the duration")
