"""What takes more than one value of a scenario to judge.

Whether this machine's kernel has the algorithms is asked by the engines (`dumbbell.plan.algorithms`): a scenario is no
worse for a machine that cannot run it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from dumbbell.scenario.check_algorithms import check_algorithms
from dumbbell.scenario.check_links import check_links
from dumbbell.scenario.flows import CommandFlow, Flow, TcpFlow
from dumbbell.scenario.model import Dumbbell, Hosts, Scenario
from dumbbell.scenario.source import Finding, Key

PLACEHOLDERS = ("server", "client", "port", "duration", "cc")
FIRST_PORT = 5001


def check(scenario: Scenario) -> list[Finding]:
    """All that is wrong with a well-formed scenario; empty if it can be planned."""
    return [
        *_network(scenario),
        *_flows(scenario),
        *check_algorithms(scenario),
        *_host_settings(scenario),
        *_emulate(scenario),
    ]


def hosts(scenario: Scenario) -> list[str]:
    """Names of the hosts, senders first."""
    topology = scenario.topology
    if isinstance(topology, Dumbbell):
        return [f"{side}{i}" for side in "sr" for i in range(1, topology.pairs + 1)]
    return ["h1", "h2"]


def _network(scenario: Scenario) -> Iterator[Finding]:
    topology = scenario.topology
    if isinstance(topology, Dumbbell) and len(topology.rtt) not in (1, topology.pairs):
        one_each = f"one value, or one for each of the {topology.pairs} pairs"
        yield Finding(("topology", "rtt"), f"{len(topology.rtt)} values", one_each, 'write rtt = "30 ms" for all pairs')
        return
    yield from check_links(scenario)
    if scenario.record.sample_interval > scenario.duration:
        yield Finding(("record", "sample_interval"), "longer than the run", f"at most {scenario.duration}")


def _emulate(scenario: Scenario) -> Iterator[Finding]:
    given = scenario.emulate
    for key, asked in (("merge", bool(given.merge)), ("whole_bursts", given.whole_bursts)):
        if asked and given.path == "wire":
            hint = 'write path = "gso", or leave path out'
            yield Finding(("emulate", key), "there are no bursts on a wire", 'path = "gso"', hint)


def _flows(scenario: Scenario) -> Iterator[Finding]:
    known = hosts(scenario)
    for i, flow in enumerate(scenario.flows):
        for end, name in (("from", flow.from_), ("to", flow.to)):
            if name not in known:
                yield Finding(("flows", i, end), "unknown host", _some(known), _suggest(name, known))
        if flow.from_ == flow.to:
            yield Finding(("flows", i, "to"), "sender and receiver are the same host", "two different hosts")
        yield from _times(("flows", i), flow, scenario)
        if isinstance(flow, CommandFlow):
            yield from _placeholders(("flows", i), flow)
    yield from _ids(scenario)
    yield from _ports(scenario)
    yield from _ecn(scenario)


def _some(names: list[str]) -> str:
    return "one of " + ", ".join(names if len(names) <= 12 else [*names[:6], "...", *names[-3:]])


def _suggest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else ""


def _times(at: Key, flow: Flow, scenario: Scenario) -> Iterator[Finding]:
    end = scenario.duration
    if flow.start >= end:
        yield Finding((*at, "start"), "after the end of the run", f"less than the duration, {end}")
    if flow.stop is not None and flow.stop <= flow.start:
        yield Finding((*at, "stop"), "not after the start", f"more than start, {flow.start}")
    if flow.stop is not None and flow.stop > end:
        hint = "leave stop out for a flow that lasts until the end"
        yield Finding((*at, "stop"), "after the end of the run", f"at most the duration, {end}", hint)


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


def flow_ids(scenario: Scenario) -> list[str]:
    """Each flow's name: its own, or f1, f2, ... by position."""
    return [flow.id or f"f{i}" for i, flow in enumerate(scenario.flows, 1)]


def flow_ports(scenario: Scenario) -> list[int]:
    """Each flow's port: its own, or 5001, 5002, ... by position, leaving out what other flows ask for."""
    asked = {flow.port for flow in scenario.flows}
    free = (port for port in range(FIRST_PORT, 65536) if port not in asked)
    return [flow.port or next(free) for flow in scenario.flows]


def _ids(scenario: Scenario) -> Iterator[Finding]:
    seen: set[str] = set()
    for i, name in enumerate(flow_ids(scenario)):
        key: Key = ("flows", i, "id")
        if name in seen:
            yield Finding(key, f"two flows are named {name}", "a name of its own (default: f1, f2, ... by position)")
        if name == "other":
            yield Finding(key, "reserved for packets of no flow", "another name")
        seen.add(name)


def _ports(scenario: Scenario) -> Iterator[Finding]:
    seen: dict[tuple[str, int, str], str] = {}
    for i, (flow, name, port) in enumerate(zip(scenario.flows, flow_ids(scenario), flow_ports(scenario), strict=True)):
        # A program's own protocol is not known, so it takes the port of both.
        protocols = ("tcp", "udp") if isinstance(flow, CommandFlow) else (flow.protocol,)
        taken = [seen[flow.to, port, p] for p in protocols if (flow.to, port, p) in seen]
        if taken:
            what = f"port {port} of {flow.to} is taken by flow {taken[0]}"
            hint = "leave port out: every flow then gets one of its own"
            yield Finding(("flows", i, "port"), what, "a port of its own", hint)
        seen |= {(flow.to, port, p): name for p in protocols}


def _ecn(scenario: Scenario) -> Iterator[Finding]:
    # An algorithm that needs ECN negotiates it by itself, whatever the host's setting.
    tcp = [(i, f) for i, f in enumerate(scenario.flows) if isinstance(f, TcpFlow) and not f.cc.needs_ecn]
    asking = {flow.from_ for _, flow in tcp if flow.ecn}
    for i, flow in tcp:
        if flow.from_ in asking and not flow.ecn:
            what = f"another flow from {flow.from_} asks for ECN"
            why = "the same for all TCP flows from one host (Linux negotiates ECN per host)"
            yield Finding(("flows", i, "ecn"), what, why, "set ecn = true here, too, or use another host")


def _host_settings(scenario: Scenario) -> Iterator[Finding]:
    known = hosts(scenario)
    for name in scenario.hosts.single:
        if name not in known:
            hint = _suggest(name, [*known, *Hosts.model_fields])
            yield Finding(("hosts", name), "unknown host", _some(known), hint)
