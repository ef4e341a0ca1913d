"""Entries of `[[flows]]` that make many connections, and each of these connections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from random import Random

from dumbbell.frozen import dataclass
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Key
from dumbbell.scenario.traffic.algorithms import Algorithm
from dumbbell.scenario.traffic.draws import gaps
from dumbbell.scenario.traffic.flows import Flow
from dumbbell.units import Amount, Percent, Rate, Time

FIRST_PORT = 5001


@dataclass(frozen=True)
class Connection:
    """One flow of the plan."""

    id: str
    group: str
    """The entry's name, which is `id` if the entry makes one flow."""
    entry: int
    """Its index in `flows`."""
    flow: Flow
    """The entry."""
    from_: str
    to: str
    port: int
    start: int
    """Nanoseconds."""
    cc: Key | None
    """The place that names its congestion control."""
    algorithm: Algorithm | None
    bytes: Amount | None
    rate: Rate | None
    """Its constant rate, if it has one; a share of the bottleneck's rate is computed."""
    stop: Time


RateOf = Callable[[int, Rate | Percent, str, str], Rate | None]
"""The rate of a connection: its entry's index, the rate that the entry asks for, from, to."""


def connections(scenario: Scenario, rate_of: RateOf) -> list[Connection]:
    """The flows of the plan, in the order of their entries."""
    ports = _ports(scenario)
    return [
        connection
        for i, (flow, group) in enumerate(zip(scenario.flows, flow_ids(scenario), strict=True))
        for connection in _connections(scenario, i, flow, group, ports[i], rate_of)
    ]


def used(connections: Iterable[Connection]) -> dict[Key, Algorithm]:
    """The congestion controls that connections use, by the place that names each. A mix has those that any connection
    gets."""
    return {one.cc: one.algorithm for one in connections if one.cc and one.algorithm}


def flow_ids(scenario: Scenario) -> list[str]:
    """Each entry's name: the given one, or f1, f2, ... by position."""
    return [flow.id or f"f{i}" for i, flow in enumerate(scenario.flows, 1)]


def is_drawn(scenario: Scenario) -> bool:
    """True if another seed gives other flows: other starts, or other draws for each flow."""
    return bool(scenario.starts) or is_dealt(scenario)


def is_dealt(scenario: Scenario) -> bool:
    """True if the seed decides on gaps between connections, or on what each is."""
    return any(
        flow.number > 1
        and ((flow.arrivals == "poisson" and flow.gap > 0) or any(sum(map(bool, part)) > 1 for part in flow.parts))
        for flow in scenario.flows
    )


def matching(end: str, hosts: Iterable[str]) -> list[str]:
    """The hosts that `from` or `to` names: one, or those whose names begin with the part before the `*`."""
    if not end.endswith("*"):
        return [end]
    return [host for host in hosts if host.startswith(end[:-1])]


def starts(scenario: Scenario, entry: int, flow: Flow, group: str) -> list[int]:
    """The start of each connection, ns. Random ones that would start after the flow's stop are not among them."""
    stop = scenario.duration if flow.stop is None else flow.stop
    first = flow.start + delay(scenario, scenario.seed, entry)
    if flow.arrivals == "fixed":
        return [first + n * flow.gap for n in range(flow.number)]
    drawn = gaps(scenario.seed, f"flows/{group}/arrivals", int(flow.gap), flow.number - 1)
    return [at for at in accumulate(drawn, initial=first) if at < stop or at == first]


def delay(scenario: Scenario, seed: int, entry: int) -> int:
    """Time by which an entry of `flows` starts later than it says, ns.

    A function of the seed and the entry's place alone: all engines have the same one.
    """
    return Random(f"{seed}/{entry}").randint(0, int(scenario.starts)) if scenario.starts else 0


def latest(flow: Flow) -> int:
    """Start of an entry's last connection, ns; of random ones, that of the first."""
    return int(flow.start) + (int((flow.number - 1) * flow.gap) if flow.arrivals == "fixed" else 0)


def _connections(
    scenario: Scenario, entry: int, flow: Flow, group: str, ports: Sequence[int], rate_of: RateOf
) -> Iterator[Connection]:
    hosts = scenario.topology.hosts
    senders, receivers = matching(flow.from_, hosts) or [flow.from_], matching(flow.to, hosts) or [flow.to]
    ccs, sizes = flow.algorithms(scenario.seed, entry, group), flow.sizes_of(scenario.seed, group)
    # There may be fewer random starts than connections.
    stop = scenario.duration if flow.stop is None else flow.stop
    at = starts(scenario, entry, flow, group)
    for n, (start, (cc, algorithm), size) in enumerate(zip(at, ccs, sizes, strict=False)):
        from_, to = senders[n % len(senders)], receivers[n % len(receivers)]
        yield Connection(
            id=group if flow.connections is None else f"{group}.{n + 1}",
            group=group,
            entry=entry,
            flow=flow,
            from_=from_,
            to=to,
            port=ports[n],
            start=start,
            cc=cc,
            algorithm=algorithm,
            bytes=size,
            rate=None if flow.asked_rate is None else rate_of(entry, flow.asked_rate, from_, to),
            stop=stop,
        )


def _ports(scenario: Scenario) -> list[Sequence[int]]:
    """The ports of each entry's connections: from the given one on, or 5001, 5002, ..., leaving out the ports that
    others ask for.

    If there are not enough, the last are 0: `check_entries` refuses that.
    """
    asked = {port for flow in scenario.flows if flow.port for port in range(flow.port, flow.port + flow.number)}
    free = (port for port in range(FIRST_PORT, 65536) if port not in asked)
    return [
        range(flow.port, flow.port + flow.number) if flow.port else [next(free, 0) for _ in range(flow.number)]
        for flow in scenario.flows
    ]
