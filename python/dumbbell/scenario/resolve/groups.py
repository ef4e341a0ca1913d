"""Checks that need more than one value: entries that make many connections, and on and off."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import number
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.flows import MOST_CONNECTIONS, AnyFlow, Flow, TcpFlow, UdpFlow
from dumbbell.units import Time


def check_entries(scenario: Scenario) -> Iterator[Finding]:
    """Problems of single entries, and of the number of all connections."""
    found = [
        finding for i, flow in enumerate(scenario.flows) for finding in _entry(("flows", i), flow, scenario.duration)
    ]
    total = sum(map(number, scenario.flows))
    if total > MOST_CONNECTIONS:
        i = max(range(len(scenario.flows)), key=lambda i: number(scenario.flows[i]))
        found.append(Finding(("flows", i, "connections"), f"{total} in all", f"at most {MOST_CONNECTIONS} in all"))
    yield from found


def _entry(at: Key, flow: Flow, end: Time) -> Iterator[Finding]:
    if flow.connections is None:
        yield from _alone(at, flow)
    if flow.arrivals == "poisson" and not flow.gap:
        yield Finding((*at, "arrivals"), "without a gap, all start at once", "gap, the mean", 'add gap = "0.1 s"')
    if flow.port is not None and flow.port + number(flow) - 1 > 65535:
        what = f"the last of {flow.connections} connections would have port {flow.port + number(flow) - 1}"
        yield Finding((*at, "port"), what, "ports up to 65535", "leave port out")
    yield from _starts(at, flow, end)
    if isinstance(flow, TcpFlow):
        yield from _either(at, flow, "mix", "cc")
        yield from _either(at, flow, "sizes", "bytes")
    if isinstance(flow, TcpFlow | UdpFlow):
        yield from _on_off(at, flow)


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
    last = flow.start + (number(flow) - 1) * flow.gap
    if flow.arrivals == "fixed" and flow.start < stop <= last:
        what = f"the last of {flow.connections} connections would start at {Time(last)}, after the end"
        yield Finding((*at, "gap"), what, f"starts before {stop}", "lower gap or connections, or raise the duration")


def _either(at: Key, flow: TcpFlow, parts: str, whole: str) -> Iterator[Finding]:
    if getattr(flow, parts) is not None and whole in flow.model_fields_set:
        yield Finding((*at, whole), f"{parts} is given, too", f"one of {whole} and {parts}", f"leave {whole} out")


def _on_off(at: Key, flow: TcpFlow | UdpFlow) -> Iterator[Finding]:
    for key, other, example in (("on", "off", 'off = "2 s"'), ("off", "on", 'on = "1 s"')):
        if getattr(flow, key) is not None and getattr(flow, other) is None:
            yield Finding((*at, key), f"without {other}", "on and off", f"add {example}")
    if flow.on is not None:
        for key in ("bytes", "sizes"):
            if getattr(flow, key, None) is not None:
                what = "a flow with a size can't have on and off"
                yield Finding((*at, key), what, f"one of {key} and on", 'for bursts of bytes, write on = "300 kB"')
