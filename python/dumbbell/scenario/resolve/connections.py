"""Entries of `[[flows]]` that make many connections, and each of these connections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Key
from dumbbell.scenario.traffic.algorithms import Algorithm
from dumbbell.scenario.traffic.draws import counts, dealt, gaps
from dumbbell.scenario.traffic.flows import Flow, TcpFlow, UdpFlow
from dumbbell.scenario.traffic.shares import exact
from dumbbell.units import Amount, Rate, Time

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
    """Rate of a UDP flow; a share of the bottleneck's rate is computed."""
    stop: Time


RateOf = Callable[[int, UdpFlow, str, str], Rate | None]
"""The rate of a UDP flow: its entry's index, the entry, from, to."""


def connections(scenario: Scenario, rate_of: RateOf) -> list[Connection]:
    """The flows of the plan, in the order of their entries."""
    ports = _ports(scenario)
    return [
        connection
        for i, (flow, group) in enumerate(zip(scenario.flows, flow_ids(scenario), strict=True))
        for connection in _connections(scenario, i, flow, group, ports[i], rate_of)
    ]


def used(found: Iterable[Connection]) -> dict[Key, Algorithm]:
    """The congestion controls that connections use, by the place that names each. A mix has those that any connection
    gets."""
    return {one.cc: one.algorithm for one in found if one.cc and one.algorithm}


def flow_ids(scenario: Scenario) -> list[str]:
    """Each entry's name: the given one, or f1, f2, ... by position."""
    return [flow.id or f"f{i}" for i, flow in enumerate(scenario.flows, 1)]


def number(flow: Flow) -> int:
    """Number of connections that an entry makes."""
    return flow.connections or 1


def is_drawn(scenario: Scenario) -> bool:
    """True if another seed gives other flows: other starts, or other draws for each flow."""
    return bool(scenario.starts) or is_dealt(scenario)


def is_dealt(scenario: Scenario) -> bool:
    """True if the seed decides on gaps between connections, or on what each is."""
    return any(
        number(flow) > 1
        and (
            (flow.arrivals == "poisson" and flow.gap > 0)
            or (isinstance(flow, TcpFlow) and any(sum(map(bool, parts)) > 1 for parts in (_mixed(flow), _sized(flow))))
        )
        for flow in scenario.flows
    )


def matching(end: str, hosts: Sequence[str]) -> list[str]:
    """The hosts that `from` or `to` names: one, or those whose names begin with the part before the `*`."""
    if not end.endswith("*"):
        return [end]
    return [host for host in hosts if host.startswith(end[:-1])]


def _mixed(flow: TcpFlow) -> list[int]:
    return counts(exact(flow.mix.values()), number(flow)) if flow.mix else []


def _sized(flow: TcpFlow) -> list[int]:
    return counts(exact(size.share for size in flow.sizes), number(flow)) if flow.sizes else []


def starts(scenario: Scenario, entry: int, flow: Flow, group: str) -> list[int]:
    """The start of each connection, ns. Random ones that would start after the flow's stop are not among them."""
    stop = scenario.duration if flow.stop is None else flow.stop
    first = flow.start + delay(scenario, scenario.seed, entry)
    if flow.arrivals == "fixed":
        return [first + n * flow.gap for n in range(number(flow))]
    drawn = gaps(scenario.seed, f"flows/{group}/arrivals", int(flow.gap), number(flow) - 1)
    return [at for at in accumulate(drawn, initial=first) if at < stop or at == first]


def delay(scenario: Scenario, seed: int, entry: int) -> int:
    """Time by which an entry of `flows` starts later than it says, ns.

    A function of the seed and the entry's place alone: all engines have the same one.
    """
    return Random(f"{seed}/{entry}").randint(0, int(scenario.starts)) if scenario.starts else 0


def latest(flow: Flow) -> int:
    """Start of an entry's last connection, ns; of random ones, that of the first."""
    return int(flow.start) + (int((number(flow) - 1) * flow.gap) if flow.arrivals == "fixed" else 0)


def _connections(
    scenario: Scenario, entry: int, flow: Flow, group: str, ports: Sequence[int], rate_of: RateOf
) -> Iterator[Connection]:
    hosts = scenario.topology.hosts
    senders, receivers = matching(flow.from_, hosts) or [flow.from_], matching(flow.to, hosts) or [flow.to]
    ccs, sizes = _ccs(scenario, entry, flow, group), _sizes(scenario, flow, group)
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
            rate=rate_of(entry, flow, from_, to) if isinstance(flow, UdpFlow) else None,
            stop=stop,
        )


def _ccs(scenario: Scenario, entry: int, flow: Flow, group: str) -> list[tuple[Key | None, Algorithm | None]]:
    """The congestion control of each connection, and where it is named."""
    if isinstance(flow, TcpFlow) and flow.mix is not None:
        named = [(("flows", entry, "mix", name), Algorithm(name=name)) for name in flow.mix]
        return [named[part] for part in dealt(scenario.seed, f"flows/{group}/mix", tuple(_mixed(flow)))]
    cc: Algorithm | None = getattr(flow, "cc", None)
    return [(None if cc is None else ("flows", entry, "cc"), cc)] * number(flow)


def _sizes(scenario: Scenario, flow: Flow, group: str) -> list[Amount | None]:
    if isinstance(flow, TcpFlow) and flow.sizes is not None:
        order = dealt(scenario.seed, f"flows/{group}/sizes", tuple(_sized(flow)))
        return [flow.sizes[part].bytes for part in order]
    return [flow.bytes if isinstance(flow, TcpFlow | UdpFlow) else None] * number(flow)


def _ports(scenario: Scenario) -> list[Sequence[int]]:
    """The ports of each entry's connections: from the given one on, or 5001, 5002, ..., leaving out the ports that
    others ask for.

    If there are not enough, the last are 0: `check_entries` refuses that.
    """
    asked = {port for flow in scenario.flows if flow.port for port in range(flow.port, flow.port + number(flow))}
    free = (port for port in range(FIRST_PORT, 65536) if port not in asked)
    return [
        range(flow.port, flow.port + number(flow)) if flow.port else [next(free, 0) for _ in range(number(flow))]
        for flow in scenario.flows
    ]
