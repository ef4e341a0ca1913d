"""A plan's flows in words: a row for each, or one for all connections of an entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from dumbbell.plan.routes import base_rtt_ns, path
from dumbbell.units import Rate, Size, Time

COLUMNS = ["flow", "from", "to", "port", "sends", "start", "stop", "base RTT", "path"]

MOST_KINDS = 6
"""What a row says of what connections send."""

Json = Mapping[str, Any]


def rows(plan: Json) -> list[list[str]]:
    """In the plan's order."""
    return [_row(plan, list(flows)) for _, flows in groupby(plan["flows"], key=group)]


def group(flow: Json) -> str:
    """The scenario's entry that it is of. Plans of former versions name none."""
    return str(flow.get("group", flow["id"]))


def _row(plan: Json, flows: Sequence[Json]) -> list[str]:
    """Of connections what they have in common, or from what to what it goes."""
    ends = {end: list(dict.fromkeys(flow[end] for flow in flows)) for end in ("from", "to")}
    pairs = dict.fromkeys((flow["from"], flow["to"]) for flow in flows)
    ways = {_way(plan, flow) for flow in (_first(flows, *pair) for pair in pairs)}
    rtts = [base_rtt_ns(plan, flow) for flow in (_first(flows, *pair) for pair in pairs)]
    return [
        _names(flows),
        *(_range(names) for names in ends.values()),
        _range([flow["port"] for flow in flows]),
        _sent(flows),
        _range(_times(flow["start_ns"] for flow in flows)),
        _range(_times(flow["stop_ns"] for flow in flows)),
        _range(_times(rtts)),
        next(iter(ways)) if len(ways) == 1 else f"{len(ways)} paths",
    ]


def _first(flows: Iterable[Json], from_: str, to: str) -> Json:
    return next(flow for flow in flows if (flow["from"], flow["to"]) == (from_, to))


def _names(flows: Sequence[Json]) -> str:
    first, last = flows[0]["id"], flows[-1]["id"]
    return first if len(flows) == 1 else f"{first} ... {last}"


def _way(plan: Json, flow: Json) -> str:
    return " > ".join([flow["from"], *(link["to"] for link in path(plan, flow["from"], flow["to"]))])


def _times(found: Iterable[int]) -> list[Time]:
    return [Time(ns) for ns in sorted(set(found))]


def _range(values: Sequence[Any]) -> str:
    """`s1`, or `s1 ... s9`."""
    return str(values[0]) if len(values) == 1 else f"{values[0]} ... {values[-1]}"


def _sent(flows: Sequence[Json]) -> str:
    """What each kind of connection sends, and how many of them do."""
    kinds = Counter(sends(flow["workload"]) for flow in flows)
    texts = [f"{count} x {kind}" for kind, count in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))]
    if len(flows) == 1:
        return next(iter(kinds))
    # Command lines differ by the port, if by nothing else.
    return "; ".join(texts[:MOST_KINDS]) + (f"; {len(texts) - MOST_KINDS} others" if len(texts) > MOST_KINDS else "")


def sends(workload: Json) -> str:
    """`TCP, cubic, 300 kB`."""
    if workload["kind"] == "command":
        server = workload["server_command"]
        cc = f" ({{cc}}: {workload['cc']})" if workload["cc"] else ""
        return f"{workload['command']}" + (f" (server: {server})" if server else "") + cc
    more = "" if workload["bytes"] is None else f", {Size(workload['bytes'])}"
    more += "" if workload.get("on_off") is None else f", {_on_off(workload['on_off'])}"
    if workload["kind"] == "udp":
        ecn = "" if workload["ecn"] == "not-ect" else f", {workload['ecn']}"
        return f"UDP, {Rate(workload['rate_bps'])}, {workload['payload_bytes']} B each{more}{ecn}"
    return f"TCP, {workload['cc']}{more}{', ECN' if workload['ecn'] else ''}"


def _on_off(given: Json) -> str:
    match given["on"]:
        case {"ns": ns}:
            on = str(Time(ns))
        case {"bytes": size}:
            on = str(Size(size))
    return f"{on} on, {Time(given['off_ns'])} off"
