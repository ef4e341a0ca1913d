"""A drawing, resolved: nodes with interfaces and addresses, links by name, and the ways of its flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from dumbbell.scenario.links.delays import least_delay
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.direction import Direction, WrittenLink, both
from dumbbell.scenario.resolve.drawn.ipv6 import check_ipv6
from dumbbell.scenario.resolve.drawn.skeleton import skeleton
from dumbbell.scenario.resolve.drawn.ways import Hop, between_hosts, ways
from dumbbell.scenario.resolve.outline import Ends, NetworkNode, Outline, Way
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.drawing import Drawing
from dumbbell.units import Time

LEAST_RTT: Final = Time(10 * 10**6)
"""By which BDPs in a lab without flows are reckoned at least: many labs have rates and no delays, and with a buffer of
one packet TCP would get little of the rate."""


MOST_ROUTES: Final = 5_000 * 5_000
"""Nodes times links of a network: each router has a route to each subnet."""


def outline(scenario: Scenario, wrong: list[Finding]) -> Outline | None:
    """The network before its links are settled; none if it is no network: then `wrong` says why."""
    drawing, mtu = scenario.topology.drawing, scenario.topology.mtu
    wrong += drawing.wrong
    if (size := len(drawing.nodes) * len(drawing.cables)) > MOST_ROUTES:
        what = f"{len(drawing.nodes):,} nodes with {len(drawing.cables):,} links are too many"
        why = f"at most 5,000 with 5,000: {size:,} routes would take more memory than most machines have"
        wrong.append(Finding(("topology",), what, why, "draw a part of the network"))
        return None
    before, anycast = len(wrong), tuple(drawing.anycast)
    frame = skeleton(drawing.structure, mtu, drawing.pools, drawing.ipv6, anycast)
    wrong += frame.wrong
    if frame.wrong:
        return None
    halves = _halves(scenario, drawing, mtu, frame.links)
    hops = tuple(_hop(half, frame.ends[half.name]) for half in halves)
    found = ways(scenario, frame.nodes, hops, drawing.spread, anycast, wrong)
    wrong += check_ipv6(scenario, frame.nodes, hops, found)
    if len(wrong) > before:
        return None
    return Outline(
        frame.nodes,
        _reckoned(scenario, halves, frame.nodes, hops, found.values()),
        found,
        _prepared(drawing, frame.links, found),
        frame.ends,
        _mtus(mtu, drawing, frame.links, found),
    )


def _prepared(
    drawing: Drawing, links: Sequence[tuple[str, str]], ways: Mapping[tuple[str, str], Way]
) -> Mapping[str, Sequence[Way]]:
    if drawing.rtt is not None:
        there, back = links[0]
        return dict.fromkeys(drawing.hosts, (Way((there,), (back,), drawing.rtt),))
    prepared: dict[str, list[Way]] = {name: [] for name in drawing.hosts}
    for (from_, to), way in ways.items():
        prepared[from_].append(way)
        prepared[to].append(way)
    return prepared


def _mtus(
    mtu: int, drawing: Drawing, links: Sequence[tuple[str, str]], ways: Mapping[tuple[str, str], Way]
) -> dict[tuple[str, str], int]:
    """The MTU of each way there and back; none if no link has its own."""
    if not any(cable.mtu for cable in drawing.cables):
        return {}
    names = zip(drawing.cables, links, strict=True)
    of_links = {name: cable.mtu or mtu for cable, both in names for name in both}
    mtus: dict[tuple[str, str], int] = {}
    for (a, b), way in ways.items():
        mtus.setdefault((b, a), min(of_links[name] for name in way.back))
        mtus[a, b] = min(of_links[name] for name in way.there)
    return mtus


class Half(NamedTuple):
    """One direction of a link before the ways of flows are known: a `WrittenLink` without its RTT."""

    name: str
    from_: str
    to: str
    at: Key
    given: Mapping[str, object]
    start: Direction


def _halves(scenario: Scenario, drawing: Drawing, mtu: int, links: Sequence[tuple[str, str]]) -> list[Half]:
    found = []
    for cable, key, names in zip(drawing.cables, drawing.keys, links, strict=True):
        there, back = cable.given(), cable.reverse.given()
        directions = both(there, back, scenario.duration, cable.mtu or mtu, delays(cable))
        a, b = cable.between
        found.append(Half(names[0], a, b, key, there, directions[0]))
        found.append(Half(names[1], b, a, (*key, "reverse"), back, directions[1]))
    return found


def delays(cable: Cable) -> tuple[Time, Time]:
    """The delays of both directions."""
    there = Time(0) if cable.delay is None else least_delay(cable.delay)
    return there, there if cable.reverse.delay is None else least_delay(cable.reverse.delay)


def _hop(half: Half, ends: Ends) -> Hop:
    start = half.start
    return half.name, half.from_, ends.from_interface, half.to, ends.to_interface, ends.cost, int(start.delay), start.up


def _reckoned(
    scenario: Scenario,
    halves: Sequence[Half],
    nodes: Sequence[NetworkNode],
    hops: Sequence[Hop],
    ways: Iterable[Way],
) -> tuple[WrittenLink, ...]:
    """The links with the RTT by which their BDP is reckoned: the drawing's; of flows; of all traffic where a lab has no
    flows."""
    if (rtt := scenario.topology.drawing.rtt) is not None:
        return tuple(WrittenLink(*half, rtt) for half in halves)
    if scenario.flows or all(half.start.buffer.kind != "bdp" for half in halves):
        return _with_rtts(halves, ways, Time(0))
    return _with_rtts(halves, between_hosts(nodes, hops), LEAST_RTT)


def _with_rtts(halves: Iterable[Half], ways: Iterable[Way], least: Time) -> tuple[WrittenLink, ...]:
    """The links with the largest base RTT of a flow across each, or of all flows where none crosses."""
    rtts: dict[str, Time] = {}
    largest = Time(0)
    for way in ways:
        largest = max(largest, way.rtt)
        for name in (*way.there, *way.back):
            rtts[name] = max(rtts.get(name, way.rtt), way.rtt)
    return tuple(WrittenLink(*half, max(rtts.get(half.name, largest), least)) for half in halves)
