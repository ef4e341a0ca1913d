"""A plan's flows in words: a row for each, or one for all connections of an entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from dumbbell.plan.network import network
from dumbbell.plan.parts import group, kind
from dumbbell.plan.types import Flow, Plan
from dumbbell.units import Time

COLUMNS = ["flow", "from", "to", "port", "sends", "start", "stop", "base RTT", "path"]

MOST_KINDS = 6
"""The most kinds of connections that a row lists."""


def rows(plan: Plan) -> list[list[str]]:
    """The rows in the plan's order."""
    return [_row(plan, list(flows)) for _, flows in groupby(plan.flows, key=group)]


def _row(plan: Plan, flows: Sequence[Flow]) -> list[str]:
    """A row of connections has their common values, or ranges."""
    paths = {id(network(plan).path(flow)): flow for flow in flows}.values()
    ways = {_way(plan, flow) for flow in paths}
    rtts = [network(plan).base_rtt_ns(flow) for flow in paths]
    return [
        _names(flows),
        _range(list(dict.fromkeys(flow.from_ for flow in flows))),
        _range(list(dict.fromkeys(flow.to for flow in flows))),
        _range([flow.port for flow in flows]),
        _sent(flows),
        _range(_times(flow.start_ns for flow in flows)),
        _range(_times(flow.stop_ns for flow in flows)),
        _range(_times(rtts)),
        next(iter(ways)) if len(ways) == 1 else f"{len(ways)} paths",
    ]


def _names(flows: Sequence[Flow]) -> str:
    first, last = flows[0].id, flows[-1].id
    return first if len(flows) == 1 else f"{first} ... {last}"


def _way(plan: Plan, flow: Flow) -> str:
    return " > ".join([flow.from_, *(link.to for link in network(plan).there(flow))])


def _times(times_ns: Iterable[int]) -> list[Time]:
    return [Time(ns) for ns in sorted(set(times_ns))]


def _range(values: Sequence[Any]) -> str:
    """`s1`, or `s1 ... s9`."""
    return str(values[0]) if len(values) == 1 else f"{values[0]} ... {values[-1]}"


def _sent(flows: Sequence[Flow]) -> str:
    """The workload of each kind of connection, and the number of its connections."""
    kinds = Counter(kind(flow).sends(flow.workload) + (", IPv6" if flow.ip == 6 else "") for flow in flows)
    texts = [f"{count} x {text}" for text, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))]
    if len(flows) == 1:
        return next(iter(kinds))
    # Command lines differ by the port, if by nothing else.
    return "; ".join(texts[:MOST_KINDS]) + (f"; {len(texts) - MOST_KINDS} others" if len(texts) > MOST_KINDS else "")
