"""The connections of a scenario, and flows whose values do not go together."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from dumbbell.hints import nearest, some
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import Connection, connections, latest, matching
from dumbbell.scenario.resolve.outline import Outline
from dumbbell.scenario.resolve.shared_rate import Shares
from dumbbell.scenario.source import MOST_FINDINGS, Finding, Key, dotted
from dumbbell.scenario.traffic.flows import Flow
from dumbbell.scenario.traffic.kinds.flow import MOST_CONNECTIONS, AnyFlow
from dumbbell.units import Time

_MS = 1_000_000
"""Nanoseconds in one."""


def resolve_flows(scenario: Scenario, network: Outline | None, wrong: list[Finding]) -> list[Connection]:
    """The connections; what is wrong with them is added to `wrong`, and then they are not complete.

    Args:
        scenario: well-formed.
        network: that carries them; none if it is wrong.
        wrong: added to.
    """
    known = dict.fromkeys(scenario.topology.hosts)
    for i, flow in enumerate(scenario.flows):
        if len(wrong) >= MOST_FINDINGS:
            break
        wrong += _hosts(("flows", i), flow, known)
        wrong += _times(("flows", i), flow, scenario)
        mtu = partial(_mtu, scenario, flow, network)
        wrong += flow.check(("flows", i), mtu, has_one_mtu=network is None or not network.mtus)
    shares = Shares(scenario, network)
    found = connections(scenario, shares.rate)
    entries = list(check_entries(scenario)) or shares.wrong
    wrong += entries
    # Ports and names are wrong where numbers are.
    if not entries:
        for check in (_ends, _ids, _ports, _ecn):
            wrong += check(found)
    return found


def _hosts(at: Key, flow: Flow, known: Collection[str]) -> Iterator[Finding]:
    for end, name in (("from", flow.from_), ("to", flow.to)):
        if not any(host in known for host in matching(name, known)):
            yield Finding((*at, end), "unknown host", some([*known]), nearest(name, known))


def _ends(connections: list[Connection]) -> Iterator[Finding]:
    for i in {one.entry: None for one in connections if one.from_ == one.to}:
        yield Finding(("flows", i, "to"), "sender and receiver are the same host", "two different hosts")


def _times(at: Key, flow: Flow, scenario: Scenario) -> Iterator[Finding]:
    end = scenario.duration
    if flow.start >= end:
        hint = _follows((*at, "start"), _spread(scenario, at), scenario)
        yield Finding((*at, "start"), "after the end of the run", f"less than the duration, {end}", hint)
    if flow.stop is not None and flow.stop <= flow.start:
        yield Finding((*at, "stop"), "not after the start", f"more than start, {flow.start}")
    stop = end if flow.stop is None else min(flow.stop, end)
    if flow.start < stop <= latest(flow) + (scenario.starts or 0) and latest(flow) < stop:
        room = Time(stop - latest(flow))
        yield Finding(("starts",), f"{dotted(at)} could start after its stop", f"less than {room}", "lower starts")
    if flow.stop is not None and flow.stop > end:
        hint = _follows((*at, "stop"), end, scenario) or "leave stop out for a flow that lasts until the end"
        yield Finding((*at, "stop"), "after the end of the run", f"at most the duration, {end}", hint)


def _follows(at: Key, value: Time, scenario: Scenario) -> str:
    """The hint that a flow's time must follow a duration that was changed outside the file; empty if that is not so."""
    if ("duration",) not in scenario.source.overrides or at in scenario.source.overrides:
        return ""
    return f'{at[-1]} does not follow the duration: add --set {dotted(at)}="{value}"'


def _spread(scenario: Scenario, at: Key) -> Time:
    """A start for this entry if all start one after another, evenly spread over the run; in whole milliseconds."""
    return Time(scenario.duration * int(at[1]) // len(scenario.flows) // _MS * _MS)


def _mtu(scenario: Scenario, flow: Flow, network: Outline | None, and_back: bool) -> int:
    """The most bytes of an IP packet on all ways of an entry of `flows`, and on those back."""
    known = scenario.topology.hosts
    if network is None or not network.mtus:
        return scenario.topology.mtu
    sources, targets = (set(matching(name, known)) for name in (flow.from_, flow.to))
    there = (mtu for (a, b), mtu in network.mtus.items() if a in sources and b in targets)
    back = (mtu for (a, b), mtu in network.mtus.items() if b in sources and a in targets)
    found = [*there, *(back if and_back else ())]
    return min(found, default=scenario.topology.mtu)


def _ids(connections: list[Connection]) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    wrong = set()
    for one in connections:
        key: Key = ("flows", one.entry, "id")
        if one.id in seen and one.entry not in wrong:
            wrong.add(one.entry)
            yield Finding(key, f"two flows are named {one.id}", "a name of its own (default: f1, f2, ... by position)")
        if one.id == "other":
            yield Finding(key, "reserved for packets of no flow", "another name")
        seen[one.id] = one.entry


def _ports(connections: list[Connection]) -> Iterator[Finding]:
    seen: dict[tuple[str, int, str], str] = {}
    wrong = set()
    for one in connections:
        protocols = one.flow.port_protocols
        taken = [seen[one.to, one.port, p] for p in protocols if (one.to, one.port, p) in seen]
        if taken and one.entry not in wrong:
            wrong.add(one.entry)
            what = f"port {one.port} of {one.to} is taken by flow {taken[0]}"
            hint = "leave port out: every flow then gets one of its own"
            yield Finding(("flows", one.entry, "port"), what, "a port of its own", hint)
        seen |= {(one.to, one.port, p): one.id for p in protocols}


def _ecn(connections: list[Connection]) -> Iterator[Finding]:
    # An algorithm that needs ECN negotiates it by itself, whatever the host's setting.
    asking, silent = set[str](), dict[int, list[str]]()
    for one in connections:
        if one.flow.negotiates_ecn is not None and one.algorithm and not one.algorithm.needs_ecn:
            if one.flow.negotiates_ecn:
                asking.add(one.from_)
            else:
                silent.setdefault(one.entry, []).append(one.from_)
    for i, senders in silent.items():
        shared = next((host for host in senders if host in asking), None)
        if shared is not None:
            what = f"another flow from {shared} asks for ECN"
            why = "the same for all TCP flows from one host (Linux negotiates ECN per host)"
            yield Finding(("flows", i, "ecn"), what, why, "set ecn = true here, too, or use another host")


def check_number(scenario: Scenario) -> Iterator[Finding]:
    """A number of all connections that is too large."""
    total = sum(flow.number for flow in scenario.flows)
    if total > MOST_CONNECTIONS:
        i = max(range(len(scenario.flows)), key=lambda i: scenario.flows[i].number)
        yield Finding(("flows", i, "connections"), f"{total} in all", f"at most {MOST_CONNECTIONS} in all")


def check_entries(scenario: Scenario) -> Iterator[Finding]:
    """Problems of single entries."""
    for i, flow in enumerate(scenario.flows):
        yield from _entry(("flows", i), flow, scenario.duration)


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
