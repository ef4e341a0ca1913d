"""The connections of a scenario, and flows whose values do not go together."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from dumbbell.hints import nearest, some
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import Connection, connections, latest, matching
from dumbbell.scenario.resolve.groups import check_entries
from dumbbell.scenario.resolve.outline import Outline
from dumbbell.scenario.resolve.shared_rate import Shares
from dumbbell.scenario.source import Finding, Key, dotted
from dumbbell.scenario.topology.drawing import Drawn
from dumbbell.scenario.topology.kinds import Topology
from dumbbell.scenario.traffic.flows import CommandFlow, Flow, PingFlow, TcpFlow, UdpFlow
from dumbbell.units import Size, Time
from dumbbell.units.mtu import MOST_PAYLOAD, datagram_bytes

PLACEHOLDERS = ("server", "client", "port", "duration", "cc")
_MS = 1_000_000
"""Nanoseconds in one."""


def resolve_flows(scenario: Scenario, network: Outline | None, wrong: list[Finding]) -> list[Connection]:
    """The connections; what is wrong with them is added to `wrong`, and then they are not complete.

    Args:
        scenario: well-formed.
        network: that carries them; none if it is wrong.
        wrong: added to.
    """
    known = scenario.topology.hosts
    for i, flow in enumerate(scenario.flows):
        wrong += _hosts(("flows", i), flow, known)
        wrong += _times(("flows", i), flow, scenario)
        wrong += _ip(("flows", i, "ip"), flow, scenario.topology)
        if isinstance(flow, CommandFlow):
            wrong += _placeholders(("flows", i), flow)
        if isinstance(flow, UdpFlow | PingFlow):
            has_one_mtu = network is None or not network.mtus
            wrong += _payload(("flows", i, "payload"), flow, _mtu(scenario, i, network), has_one_mtu=has_one_mtu)
    shares = Shares(scenario, network)
    found = connections(scenario, shares.rate)
    entries = list(check_entries(scenario)) or shares.wrong
    wrong += entries
    # Ports and names are wrong where numbers are.
    if not entries:
        for check in (_ends, _ids, _ports, _ecn):
            wrong += check(found)
    return found


def _hosts(at: Key, flow: Flow, known: list[str]) -> Iterator[Finding]:
    for end, name in (("from", flow.from_), ("to", flow.to)):
        if not {*matching(name, known)} & {*known}:
            yield Finding((*at, end), "unknown host", some(known), nearest(name, known))


def _ends(found: list[Connection]) -> Iterator[Finding]:
    for i in {one.entry: None for one in found if one.from_ == one.to}:
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


def _mtu(scenario: Scenario, entry: int, network: Outline | None) -> int:
    """The most bytes of an IP packet on all ways of an entry of `flows`; what comes back to pings is as long."""
    flow, known = scenario.flows[entry], scenario.topology.hosts
    if network is None or not network.mtus:
        return scenario.topology.mtu
    sources, targets = (set(matching(name, known)) for name in (flow.from_, flow.to))
    there = (mtu for (a, b), mtu in network.mtus.items() if a in sources and b in targets)
    back = (mtu for (a, b), mtu in network.mtus.items() if b in sources and a in targets)
    found = [*there, *(back if isinstance(flow, PingFlow) else ())]
    return min(found, default=scenario.topology.mtu)


def _payload(at: Key, flow: UdpFlow | PingFlow, mtu: int, *, has_one_mtu: bool) -> Iterator[Finding]:
    may_be_cut = isinstance(flow, UdpFlow) and has_one_mtu
    most = Size(MOST_PAYLOAD if may_be_cut else datagram_bytes(mtu, flow.ip))
    if flow.payload is None or flow.payload <= most:
        return
    why = f"at most {most}"
    if not may_be_cut:
        why += f", or it would be fragmented: packets have at most {mtu} B"
    if isinstance(flow, UdpFlow) and not may_be_cut:
        why += ", and routers would cut them where links have MTUs of their own"
    yield Finding(at, "too large", why, f'write payload = "{most}"')


def _ip(at: Key, flow: Flow, topology: Topology) -> Iterator[Finding]:
    if flow.ip == 6 and not isinstance(topology, Drawn):
        hint = 'draw the network with kind = "graph" and ipv6 = true, or leave ip out'
        yield Finding(at, f"no host of a {topology.kind} has an IPv6 address", "hosts with IPv6 addresses", hint)


def _placeholders(at: Key, flow: CommandFlow) -> Iterator[Finding]:
    """A misspelt placeholder would reach the shell as it is; other braces are the shell's."""
    for key, text in (("command", flow.command), ("server_command", flow.server_command or "")):
        for name in re.findall(r"(?<!\$)\{([a-z_]+)\}", text):
            close = difflib.get_close_matches(name, PLACEHOLDERS, n=1, cutoff=0.8)
            if name not in PLACEHOLDERS and close:
                expected = ", ".join(f"{{{p}}}" for p in PLACEHOLDERS)
                yield Finding((*at, key), f"unknown placeholder {{{name}}}", expected, f"did you mean {{{close[0]}}}?")
    asks = any(re.search(r"(?<!\$)\{cc\}", text) for text in (flow.command, flow.server_command or ""))
    if asks and flow.cc is None:
        hint = 'add cc = "bbr3", or write the name in place of {cc}'
        yield Finding((*at, "command"), "{cc} without cc", "the congestion control that {cc} stands for", hint)
    if flow.cc is not None and not asks:
        hint = "write {cc} where the program takes it, as in iperf3 -C {cc}"
        yield Finding((*at, "cc"), "no command line asks for it", "{cc} in command or server_command", hint)


def _ids(found: list[Connection]) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    wrong = set()
    for one in found:
        key: Key = ("flows", one.entry, "id")
        if one.id in seen and one.entry not in wrong:
            wrong.add(one.entry)
            yield Finding(key, f"two flows are named {one.id}", "a name of its own (default: f1, f2, ... by position)")
        if one.id == "other":
            yield Finding(key, "reserved for packets of no flow", "another name")
        seen[one.id] = one.entry


def _ports(found: list[Connection]) -> Iterator[Finding]:
    seen: dict[tuple[str, int, str], str] = {}
    wrong = set()
    for one in found:
        protocols = _protocols(one.flow)
        taken = [seen[one.to, one.port, p] for p in protocols if (one.to, one.port, p) in seen]
        if taken and one.entry not in wrong:
            wrong.add(one.entry)
            what = f"port {one.port} of {one.to} is taken by flow {taken[0]}"
            hint = "leave port out: every flow then gets one of its own"
            yield Finding(("flows", one.entry, "port"), what, "a port of its own", hint)
        seen |= {(one.to, one.port, p): one.id for p in protocols}


def _protocols(flow: Flow) -> tuple[str, ...]:
    """The protocols in which a flow takes its port. A program's own is not known, so it takes the port of both.

    An ICMP echo has the port as its identifier.
    """
    if isinstance(flow, CommandFlow):
        return ("tcp", "udp")
    return (flow.echo if isinstance(flow, PingFlow) else flow.protocol,)


def _ecn(found: list[Connection]) -> Iterator[Finding]:
    # An algorithm that needs ECN negotiates it by itself, whatever the host's setting.
    asking, silent = set[str](), dict[int, list[str]]()
    for one in found:
        if isinstance(one.flow, TcpFlow) and one.algorithm and not one.algorithm.needs_ecn:
            if one.flow.ecn:
                asking.add(one.from_)
            else:
                silent.setdefault(one.entry, []).append(one.from_)
    for i, senders in silent.items():
        shared = next((host for host in senders if host in asking), None)
        if shared is not None:
            what = f"another flow from {shared} asks for ECN"
            why = "the same for all TCP flows from one host (Linux negotiates ECN per host)"
            yield Finding(("flows", i, "ecn"), what, why, "set ecn = true here, too, or use another host")
