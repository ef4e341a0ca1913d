"""From a scenario to its plan.

The plan's types and meaning are those of the Rust crate `plan`: integers in the unit that a key's suffix names.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from dumbbell.errors import ScenarioError
from dumbbell.plan.sysctls import pinned
from dumbbell.scenario.bottleneck import Direction, directions, largest_rtt, rtts
from dumbbell.scenario.check import check, flow_ids, flow_ports, hosts
from dumbbell.scenario.model import CommandFlow, Dumbbell, Flow, Path, Scenario, UdpFlow
from dumbbell.scenario.quantities import Time, decimal

Plan = dict[str, Any]
"""As in plan.json."""


def expand(scenario: Scenario) -> Plan:
    """The plan of a scenario, as it is written to `plan.json`. Raises `ScenarioError` if the scenario is refused."""
    problems = [scenario.source.problem(finding) for finding in check(scenario)]
    if problems:
        raise ScenarioError(problems)
    addresses = _addresses(scenario)
    return {
        "name": scenario.name,
        "duration_ns": int(scenario.duration),
        "seed": scenario.seed,
        "nodes": _nodes(scenario, addresses),
        "links": _links(scenario.topology),
        "flows": [
            _flow(scenario, flow, name, port, addresses)
            for flow, name, port in zip(scenario.flows, flow_ids(scenario), flow_ports(scenario), strict=True)
        ],
        "record": {
            "sample_interval_ns": int(scenario.record.sample_interval),
            "packets": scenario.record.packets,
        },
        "emulate": {
            "ring_bytes": int(scenario.emulate.ring),
            "spin_ns": int(scenario.emulate.spin),
            "arena_bytes": int(scenario.emulate.arena),
        },
    }


def _addresses(scenario: Scenario) -> dict[str, str]:
    """Senders in 10.0.0.0/24, receivers in 10.0.1.0/24, numbered as their names are."""
    names = hosts(scenario)
    half = len(names) // 2
    return {name: f"10.0.{i // half}.{i % half + 1}" for i, name in enumerate(names)}


def _nodes(scenario: Scenario, addresses: dict[str, str]) -> list[dict[str, Any]]:
    sysctls = pinned(scenario, list(addresses))
    nodes: list[dict[str, Any]] = [
        {"kind": "host", "name": name, "address": address, "sysctl": sysctls[name]}
        for name, address in addresses.items()
    ]
    if isinstance(scenario.topology, Dumbbell):
        nodes += [{"kind": "switch", "name": "left"}, {"kind": "switch", "name": "right"}]
    return nodes


def _links(topology: Dumbbell | Path) -> list[dict[str, Any]]:
    forward, reverse = directions(topology)
    rtt = largest_rtt(topology)
    left, right = ("left", "right") if isinstance(topology, Dumbbell) else ("h1", "h2")
    links = [
        _shaped("bottleneck", left, right, forward, rtt),
        _shaped("bottleneck-reverse", right, left, reverse, rtt),
    ]
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


def _shaped(name: str, from_: str, to: str, link: Direction, rtt: Time) -> dict[str, Any]:
    kind, amount = link.resolve(rtt)
    loss = link.loss.rate.probability
    before = link.loss.position == "before-queue"
    return {
        "name": name,
        "from": from_,
        "to": to,
        "rate_bps": None if link.rate is None else int(link.rate),
        "delay_ns": int(link.delay),
        "buffer": "unlimited" if kind == "unlimited" else {kind: amount},
        "loss_before": loss if before else 0.0,
        "loss_after": 0.0 if before else loss,
        "overhead_bytes": link.overhead,
    }


def _access(from_: str, to: str, delay: int) -> dict[str, Any]:
    return {
        "name": f"{from_}-{to}",
        "from": from_,
        "to": to,
        "rate_bps": None,
        "delay_ns": delay,
        "buffer": "unlimited",
        "loss_before": 0.0,
        "loss_after": 0.0,
        "overhead_bytes": 0,
    }


def _flow(scenario: Scenario, flow: Flow, name: str, port: int, addresses: dict[str, str]) -> dict[str, Any]:
    stop = scenario.duration if flow.stop is None else flow.stop
    return {
        "id": name,
        "from": flow.from_,
        "to": flow.to,
        "start_ns": int(flow.start),
        "stop_ns": int(stop),
        "port": port,
        "workload": _workload(flow, port, stop - flow.start, addresses),
    }


def _workload(flow: Flow, port: int, length: int, addresses: dict[str, str]) -> dict[str, Any]:
    if isinstance(flow, CommandFlow):
        filled = {
            "server": addresses[flow.to],
            "client": addresses[flow.from_],
            "port": str(port),
            "duration": decimal(Fraction(length, 10**9)),
        }
        server = flow.server_command
        return {
            "kind": "command",
            "command": _fill(flow.command, filled),
            "server_command": None if server is None else _fill(server, filled),
        }
    amount = None if flow.bytes is None else int(flow.bytes)
    if isinstance(flow, UdpFlow):
        return {"kind": "udp", "rate_bps": int(flow.rate), "payload_bytes": int(flow.payload), "bytes": amount}
    return {"kind": "tcp", "cc": flow.cc, "bytes": amount, "ecn": flow.ecn}


def _fill(command: str, values: dict[str, str]) -> str:
    """Other braces are the shell's."""
    for name, value in values.items():
        command = re.sub(rf"(?<!\$)\{{{name}\}}", value, command)
    return command
