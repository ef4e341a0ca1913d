"""What takes more than one value of a scenario to judge.

Whether this machine's kernel has the algorithms is asked by the engines (`dumbbell.plan.algorithms`): a scenario is no
worse for a machine that cannot run it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from dumbbell.scenario.check_algorithms import check_algorithms
from dumbbell.scenario.check_groups import check_groups
from dumbbell.scenario.check_links import check_links
from dumbbell.scenario.flows import CommandFlow, Flow, TcpFlow
from dumbbell.scenario.groups import Connection, connections, matching
from dumbbell.scenario.model import Dumbbell, Hosts, Scenario
from dumbbell.scenario.source import Finding, Key

PLACEHOLDERS = ("server", "client", "port", "duration", "cc")


def check(scenario: Scenario) -> list[Finding]:
    """All that is wrong with a well-formed scenario; empty if it can be planned."""
    return [
        *_network(scenario),
        *_flows(scenario),
        *check_algorithms(scenario),
        *_host_settings(scenario),
        *_emulate(scenario),
    ]


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
    known = scenario.topology.hosts
    for i, flow in enumerate(scenario.flows):
        yield from _hosts(("flows", i), flow, known)
        yield from _times(("flows", i), flow, scenario)
        if isinstance(flow, CommandFlow):
            yield from _placeholders(("flows", i), flow)
    wrong = list(check_groups(scenario))
    yield from wrong
    # Where numbers are wrong, ports and names are.
    found = [] if wrong else connections(scenario)
    yield from _ends(found)
    yield from _ids(found)
    yield from _ports(found)
    yield from _ecn(found)


def _hosts(at: Key, flow: Flow, known: list[str]) -> Iterator[Finding]:
    for end, name in (("from", flow.from_), ("to", flow.to)):
        if not {*matching(name, known)} & {*known}:
            yield Finding((*at, end), "unknown host", _some(known), _suggest(name, known))


def _ends(found: list[Connection]) -> Iterator[Finding]:
    for i in {one.entry: None for one in found if one.from_ == one.to}:
        yield Finding(("flows", i, "to"), "sender and receiver are the same host", "two different hosts")


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
        # A program's own protocol is not known, so it takes the port of both.
        protocols = ("tcp", "udp") if isinstance(one.flow, CommandFlow) else (one.flow.protocol,)
        taken = [seen[one.to, one.port, p] for p in protocols if (one.to, one.port, p) in seen]
        if taken and one.entry not in wrong:
            wrong.add(one.entry)
            what = f"port {one.port} of {one.to} is taken by flow {taken[0]}"
            hint = "leave port out: every flow then gets one of its own"
            yield Finding(("flows", one.entry, "port"), what, "a port of its own", hint)
        seen |= {(one.to, one.port, p): one.id for p in protocols}


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


def _host_settings(scenario: Scenario) -> Iterator[Finding]:
    known = scenario.topology.hosts
    for name in scenario.hosts.single:
        if name not in known:
            hint = _suggest(name, [*known, *Hosts.model_fields])
            yield Finding(("hosts", name), "unknown host", _some(known), hint)
