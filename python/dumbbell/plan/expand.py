"""Expands a scenario to its plan.

The plan's types and meaning are those of the Rust crate `plan`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from dumbbell.plan.algorithms import entries
from dumbbell.plan.links import at_first, later
from dumbbell.plan.nodes import planned, with_routes
from dumbbell.plan.offload import settled
from dumbbell.plan.sysctls import pinned
from dumbbell.plan.types import (
    Acks,
    DaemonChange,
    Emulate,
    ExitReady,
    Flow,
    LinkChange,
    Plan,
    Program,
    Ready,
    Record,
    Simulate,
    TcpReady,
    UdpReady,
    Wait,
)
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import Resolved, resolve
from dumbbell.scenario.resolve.connections import Connection
from dumbbell.scenario.resolve.network import Network
from dumbbell.scenario.resolve.programs import named
from dumbbell.scenario.traffic.kinds.flow import Ends
from dumbbell.scenario.traffic.programs import Program as ProgramKeys

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
    links, events = tuple(at_first(resolved.network.links)), _events(resolved.network)
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
            wait=_wait(resolved.network),
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


def _wait(network: Network) -> Wait | None:
    converges = any(node.routing is not None or node.stp is not None for node in network.nodes)
    return Wait(limit_ns=int(network.wait)) if converges else None


def _events(network: Network) -> tuple[LinkChange, ...]:
    events = [LinkChange(at_ns=int(at), link=state) for link in network.links for at, state in later(link)]
    return tuple(sorted(events, key=lambda event: event.at_ns))


def _flow(resolved: Resolved, connection: Connection) -> Flow:
    return Flow(
        id=connection.id,
        group=connection.group,
        from_=connection.from_,
        to=connection.to,
        start_ns=connection.start,
        stop_ns=int(connection.stop),
        port=connection.port,
        ip=connection.flow.ip,
        workload=connection.flow.workload(_ends(resolved, connection)),
    )


def _ends(resolved: Resolved, connection: Connection) -> Ends:
    network = resolved.network
    return Ends(
        from_=connection.from_,
        to=connection.to,
        address=lambda host: network.address(host, connection.flow.ip),
        port=connection.port,
        duration_ns=connection.stop - connection.start,
        mtu=network.mtus.get((connection.from_, connection.to), network.mtu),
        cc=resolved.label(connection),
        needs_ecn=connection.algorithm is not None and connection.algorithm.needs_ecn,
        bytes=None if connection.bytes is None else int(connection.bytes),
        rate_bps=None if connection.rate is None else int(connection.rate),
    )
