"""From a scenario to its plan.

The plan's types and meaning are those of the Rust crate `plan`: integers in the unit that a key's suffix names.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from dumbbell.errors import ScenarioError
from dumbbell.plan.algorithms import entries
from dumbbell.plan.links import Link, shaped, transparent
from dumbbell.plan.path import settle
from dumbbell.plan.sysctls import pinned
from dumbbell.scenario.bottleneck import NAMES, History, histories, rtts
from dumbbell.scenario.check import check
from dumbbell.scenario.flows import CommandFlow, TcpFlow, UdpFlow
from dumbbell.scenario.groups import Connection, connections
from dumbbell.scenario.labels import Labelled, labelled
from dumbbell.scenario.model import Dumbbell, Path, Scenario
from dumbbell.scenario.shared_rate import rate_of
from dumbbell.units.quantities import decimal

Plan = dict[str, Any]
"""As in plan.json."""


def expand(scenario: Scenario) -> Plan:
    """The plan of a scenario, as it is written to `plan.json`. Raises `ScenarioError` if the scenario is refused."""
    problems = [scenario.source.problem(finding) for finding in check(scenario)]
    if problems:
        raise ScenarioError(problems)
    return expand_checked(scenario)


def expand_checked(scenario: Scenario) -> Plan:
    """The plan of a scenario that comes from `load`, which has checked it."""
    history = histories(scenario.topology, scenario.duration, scenario.events)
    labels = labelled(scenario)
    links, events = _links(scenario.topology, history), _events(scenario.topology, history)
    addresses = _addresses(scenario)
    plan: Plan = {
        "name": scenario.name,
        "duration_ns": int(scenario.duration),
        "seed": scenario.seed,
        "nodes": _nodes(scenario, addresses, [*links, *(event["link"] for event in events)]),
        "links": links,
        "events": events,
        "algorithms": entries(labels.values()),
        "flows": [
            _flow(scenario, one, _label(labels[one.cc]) if one.cc else None, addresses) for one in connections(scenario)
        ],
        "record": {
            "sample_interval_ns": int(scenario.record.sample_interval),
            "packets": scenario.record.packets,
            "acks": {"auto": "auto", True: "on", False: "off"}[scenario.record.acks],
        },
        "emulate": {
            "ring_bytes": int(scenario.emulate.ring),
            "spin_ns": int(scenario.emulate.spin),
            "arena_bytes": int(scenario.emulate.arena),
            "path": scenario.emulate.path,
            "merge_ns": None if scenario.emulate.merge is None else int(scenario.emulate.merge),
            "whole_bursts": scenario.emulate.whole_bursts,
        },
        "simulate": {"tso": scenario.simulate.tso},
    }
    if scenario.emulate.cpus is not None:
        plan["emulate"]["cpus"] = scenario.emulate.cpus
    settle([plan])
    return plan


def _addresses(scenario: Scenario) -> dict[str, str]:
    """Senders in 10.0.0.0/24, receivers in 10.0.1.0/24, numbered as their names are."""
    names = scenario.topology.hosts
    half = len(names) // 2
    return {name: f"10.0.{i // half}.{i % half + 1}" for i, name in enumerate(names)}


def _nodes(scenario: Scenario, addresses: dict[str, str], links: list[Link]) -> list[dict[str, Any]]:
    sysctls = pinned(scenario, list(addresses), links)
    nodes: list[dict[str, Any]] = [
        {"kind": "host", "name": name, "address": address, "sysctl": sysctls[name]}
        for name, address in addresses.items()
    ]
    if isinstance(scenario.topology, Dumbbell):
        nodes += [{"kind": "switch", "name": "left"}, {"kind": "switch", "name": "right"}]
    return nodes


def _links(topology: Dumbbell | Path, history: History) -> list[Link]:
    ends = _ends(topology)
    (_, forward), (_, reverse) = (history[name][0] for name in NAMES)
    links = [shaped(name, *ends[name], link) for name, link in zip(NAMES, (forward, reverse), strict=True)]
    if isinstance(topology, Dumbbell):
        for i, pair_rtt in enumerate(rtts(topology), 1):
            rest = pair_rtt - forward.delay - reverse.delay
            links += [
                _access(f"s{i}", "left", 0),
                _access("left", f"s{i}", 0),
                _access("right", f"r{i}", rest // 2),
                _access(f"r{i}", "right", rest - rest // 2),
            ]
    return links


def _ends(topology: Dumbbell | Path) -> dict[str, tuple[str, str]]:
    left, right = ("left", "right") if isinstance(topology, Dumbbell) else ("h1", "h2")
    return {NAMES[0]: (left, right), NAMES[1]: (right, left)}


def _events(topology: Dumbbell | Path, history: History) -> list[dict[str, Any]]:
    ends = _ends(topology)
    events = [
        {"at_ns": int(at), "link": shaped(name, *ends[name], link)}
        for name, states in history.items()
        for at, link in states[1:]
    ]
    return sorted(events, key=lambda event: event["at_ns"])


def _access(from_: str, to: str, delay: int) -> Link:
    return transparent(f"{from_}-{to}", from_, to, delay)


def _label(cc: str | Labelled) -> str:
    return cc.label if isinstance(cc, Labelled) else cc


def _flow(scenario: Scenario, one: Connection, cc: str | None, addresses: dict[str, str]) -> dict[str, Any]:
    stop = scenario.duration if one.flow.stop is None else one.flow.stop
    return {
        "id": one.id,
        "group": one.group,
        "from": one.from_,
        "to": one.to,
        "start_ns": one.start,
        "stop_ns": int(stop),
        "port": one.port,
        "workload": _workload(scenario, one, cc, stop - one.start, addresses),
    }


def _workload(
    scenario: Scenario, one: Connection, cc: str | None, length: int, addresses: dict[str, str]
) -> dict[str, Any]:
    flow = one.flow
    if isinstance(flow, CommandFlow):
        filled = {
            "server": addresses[one.to],
            "client": addresses[one.from_],
            "port": str(one.port),
            "duration": decimal(Fraction(length, 10**9)),
        }
        server = flow.server_command
        return {
            "kind": "command",
            "command": _fill(flow.command, filled),
            "server_command": None if server is None else _fill(server, filled),
            "cc": cc,
        }
    amount = None if one.bytes is None else int(one.bytes)
    if isinstance(flow, UdpFlow):
        return {
            "kind": "udp",
            "rate_bps": int(rate_of(scenario, one, flow.rate)),
            "payload_bytes": int(flow.payload),
            "bytes": amount,
            "ecn": flow.ecn,
            "on_off": _on_off(flow),
        }
    ecn = flow.ecn or (one.algorithm is not None and one.algorithm.needs_ecn)
    return {"kind": "tcp", "cc": cc, "bytes": amount, "ecn": ecn, "on_off": _on_off(flow)}


def _on_off(flow: TcpFlow | UdpFlow) -> dict[str, Any] | None:
    if flow.on is None or flow.off is None:
        return None
    unit = {"time": "ns", "bytes": "bytes"}[flow.on.kind]
    return {"on": {unit: int(flow.on.amount)}, "off_ns": int(flow.off)}


def _fill(command: str, values: dict[str, str]) -> str:
    """Other braces are the shell's."""
    for name, value in values.items():
        command = re.sub(rf"(?<!\$)\{{{name}\}}", value, command)
    return command
