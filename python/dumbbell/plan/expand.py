"""Expands a scenario to its plan.

The plan's types and meaning are those of the Rust crate `plan`.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Final

from dumbbell.plan.algorithms import entries
from dumbbell.plan.links import at_first, later, transparent
from dumbbell.plan.nodes import planned, with_routes
from dumbbell.plan.offload import settled
from dumbbell.plan.sysctls import pinned
from dumbbell.plan.types import (
    Acks,
    CommandWorkload,
    DaemonChange,
    Emulate,
    ExitReady,
    Flow,
    Link,
    LinkChange,
    OnBytes,
    OnNs,
    OnOff,
    PingWorkload,
    Plan,
    Program,
    Ready,
    Record,
    Simulate,
    TcpReady,
    TcpWorkload,
    UdpReady,
    UdpWorkload,
    Wait,
    Workload,
)
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import Resolved, resolve
from dumbbell.scenario.resolve.connections import Connection
from dumbbell.scenario.resolve.network import Network
from dumbbell.scenario.resolve.programs import named
from dumbbell.scenario.topology.drawing import Drawn
from dumbbell.scenario.traffic.flows import CommandFlow, PingFlow, TcpFlow, UdpFlow
from dumbbell.scenario.traffic.programs import Program as ProgramKeys
from dumbbell.units import decimal
from dumbbell.units.mtu import datagram_bytes

_ACKS: Final[Mapping[bool | str, Acks]] = {"auto": "auto", True: "on", False: "off"}


def expand(scenario: Scenario) -> Plan:
    """The plan of a scenario, as it is written to `plan.json`. Raises `ScenarioError` if the scenario is refused."""
    with _uncollected():
        return _expand(scenario)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Within, no garbage is looked for: the plan of a large network is a million objects, all of which are in use."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _expand(scenario: Scenario) -> Plan:
    resolved = resolve(scenario)
    links, events = _links(resolved.network), _events(resolved.network)
    plan = with_routes(
        Plan(
            name=scenario.name,
            duration_ns=int(scenario.duration),
            seed=scenario.seed,
            nodes=planned(resolved.network.nodes, pinned(resolved, [*links, *(event.link for event in events)])),
            links=links,
            events=events,
            algorithms=entries(resolved.labels.values()),
            flows=tuple(_flow(resolved, one) for one in resolved.connections),
            record=Record(
                sample_interval_ns=int(scenario.record.sample_interval),
                packets=scenario.record.packets,
                acks=_ACKS[scenario.record.acks],
                capture=scenario.record.capture,
            ),
            emulate=Emulate(
                ring_bytes=int(scenario.emulate.ring),
                spin_ns=int(scenario.emulate.spin),
                arena_bytes=int(scenario.emulate.arena),
                whole_bursts=whole_bursts(scenario),
                cpus=scenario.emulate.cpus,
                kernel=scenario.emulate.kernel,
                links=None if scenario.emulate.links == "ours" else scenario.emulate.links,
            ),
            simulate=Simulate(
                tso=scenario.simulate.tso,
                hosts=None if scenario.simulate.hosts == "machine" else scenario.simulate.hosts,
            ),
            mtu=resolved.network.mtu,
            neighbours=resolved.network.neighbours,
            wait=_wait(scenario, resolved.network),
            daemon_events=tuple(
                DaemonChange(at_ns=int(one.at), router=one.router, daemon=one.daemon, up=one.up)
                for one in resolved.network.daemons
            ),
            spread=resolved.network.spread,
            anycast=resolved.network.anycast,
            programs=tuple(_program(name, one) for name, one in named(scenario)),
        ),
        resolved.network.nodes,
    )
    return settled(plan, scenario.emulate.path, scenario.emulate.merge)


def _program(name: str, program: ProgramKeys) -> Program:
    ready: Ready | None = None
    if program.ready is not None:
        kind, port = program.ready.kind, program.ready.port
        ready = ExitReady() if port is None else TcpReady(port=port) if kind == "tcp" else UdpReady(port=port)
    return Program(name=name, node=program.node, command=program.command, ready=ready)


def whole_bursts(scenario: Scenario) -> bool:
    """Bursts stay whole: so asked, or on Mininet's links unless packets cross one by one."""
    return scenario.emulate.whole_bursts or (scenario.emulate.links == "mininet" and scenario.emulate.path != "wire")


def _wait(scenario: Scenario, network: Network) -> Wait | None:
    converges = any(node.routing is not None or node.stp is not None for node in network.nodes)
    return Wait(limit_ns=int(scenario.topology.wait)) if isinstance(scenario.topology, Drawn) and converges else None


def _links(network: Network) -> tuple[Link, ...]:
    return (
        *at_first(network.shaped),
        *(transparent(link.name, link.from_, link.to, link.delay) for link in network.access),
    )


def _events(network: Network) -> tuple[LinkChange, ...]:
    events = [LinkChange(at_ns=int(at), link=state) for link in network.shaped for at, state in later(link)]
    return tuple(sorted(events, key=lambda event: event.at_ns))


def _flow(resolved: Resolved, one: Connection) -> Flow:
    return Flow(
        id=one.id,
        group=one.group,
        from_=one.from_,
        to=one.to,
        start_ns=one.start,
        stop_ns=int(one.stop),
        port=one.port,
        ip=one.flow.ip,
        workload=_workload(one, resolved.label(one), resolved.network),
    )


def _workload(one: Connection, cc: str | None, network: Network) -> Workload:
    flow = one.flow
    if isinstance(flow, CommandFlow):
        filled = {
            "server": network.address(one.to, flow.ip),
            "client": network.address(one.from_, flow.ip),
            "port": str(one.port),
            "duration": decimal(Fraction(one.stop - one.start, 10**9)),
        }
        server = flow.server_command
        return CommandWorkload(
            command=_fill(flow.command, filled),
            server_command=None if server is None else _fill(server, filled),
            cc=cc,
        )
    amount = None if one.bytes is None else int(one.bytes)
    if isinstance(flow, UdpFlow):
        assert one.rate is not None
        return UdpWorkload(
            rate_bps=int(one.rate),
            payload_bytes=int(
                flow.payload or datagram_bytes(network.mtus.get((one.from_, one.to), network.mtu), flow.ip)
            ),
            bytes=amount,
            ecn=flow.ecn,
            on_off=_on_off(flow),
        )
    if isinstance(flow, PingFlow):
        return PingWorkload(echo=flow.echo, interval_ns=int(flow.interval), payload_bytes=int(flow.payload))
    assert cc is not None
    ecn = flow.ecn or (one.algorithm is not None and one.algorithm.needs_ecn)
    return TcpWorkload(cc=cc, bytes=amount, ecn=ecn, on_off=_on_off(flow))


def _on_off(flow: TcpFlow | UdpFlow) -> OnOff | None:
    if flow.on is None or flow.off is None:
        return None
    amount = int(flow.on.amount)
    return OnOff(on=OnNs(ns=amount) if flow.on.kind == "time" else OnBytes(bytes=amount), off_ns=int(flow.off))


def _fill(command: str, values: dict[str, str]) -> str:
    """The command with its placeholders filled in. Other braces are the shell's."""
    for name, value in values.items():
        command = re.sub(rf"(?<!\$)\{{{name}\}}", value, command)
    return command
