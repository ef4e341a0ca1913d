"""The ways of flows through a drawn network: the crate `plan` finds them, as it does for the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Final

from dumbbell.core import core
from dumbbell.frozen import dataclass
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import matching
from dumbbell.scenario.resolve.drawn.remembered import remembered
from dumbbell.scenario.resolve.outline import NetworkNode, SpanningTree, Way
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology.drawing import Spread
from dumbbell.scenario.topology.nodes import Prefix
from dumbbell.units import Time

Pair = tuple[str, str]
"""From, to."""

Hop = tuple[str, str, str | None, str, str | None, int, int, bool]
"""A direction of a link: name, from, its interface, to, its interface, cost, delay in ns, whether it is up."""


@dataclass(frozen=True)
class Given:
    """All that ways depend on, but for whose they are."""

    nodes: tuple[NetworkNode, ...]
    hops: tuple[Hop, ...]
    spread: Spread = "nothing"
    anycast: tuple[str, ...] = ()


def ways(
    scenario: Scenario,
    nodes: Sequence[NetworkNode],
    hops: Sequence[Hop],
    spread: Spread,
    anycast: Sequence[Prefix],
    wrong: list[Finding],
) -> Mapping[Pair, Way]:
    """The ways of all pairs of hosts between which flows run; where there is none, this is added to `wrong`.

    Args:
        scenario: well-formed.
        nodes: of the network.
        hops: all directions of its links.
        spread: what shares out paths of equal cost.
        anycast: subnets that are in several places.
        wrong: added to.
    """
    pairs = _pairs(scenario)
    given = Given(tuple(nodes), tuple(hops), spread, tuple(map(str, anycast)))
    try:
        return _found(given, tuple(pairs))
    except RuntimeError as error:
        if "no path of links" not in str(error):
            wrong.append(Finding(("topology",), str(error), "a network that can be built"))
            return {}
        lost = [pair for pair in pairs if not _is_joined(given, pair)]
    for pair, entry in ((pair, pairs[pair]) for pair in lost):
        hint = "hosts do not forward: join the two by links, switches and routers"
        at = ("flows", entry, "to")
        wrong.append(Finding(at, f"no path from {pair[0]} to {pair[1]} and back", "a host that can be reached", hint))
    return {}


MOST_HOSTS: Final = 64
"""Hosts between which ways are looked for in a network without flows: pairs grow with their square."""


def between_hosts(nodes: Sequence[NetworkNode], hops: Sequence[Hop]) -> list[Way]:
    """The ways that traffic may take in a network without flows.

    Of hosts that hang at one node by links of one delay two are enough. Of more than 64 hosts others are left out.
    """
    hosts = [node.name for node in nodes if node.kind == "host"]
    places: dict[object, list[str]] = {}
    for name in hosts:
        links = frozenset((to, delay) for _, from_, _, to, _, _, delay, _ in hops if from_ == name)
        places.setdefault(links, []).append(name)
    some = [name for alike in places.values() for name in alike[:2]]
    some = some[:: -(-len(some) // MOST_HOSTS)] if some else []
    given, pairs = Given(tuple(nodes), tuple(hops)), tuple(combinations(some, 2))
    try:
        return list(_found(given, pairs).values())
    except RuntimeError:  # Not all reach each other.
        return list(_found(given, tuple(pair for pair in pairs if _is_joined(given, pair))).values())


def _pairs(scenario: Scenario) -> dict[Pair, int]:
    """The pairs, and the first entry that has each; what names no host is left out."""
    known, found = dict.fromkeys(scenario.topology.hosts), dict[Pair, int]()
    for entry, flow in enumerate(scenario.flows):
        ends = [[host for host in matching(end, known) if host in known] for end in (flow.from_, flow.to)]
        if all(ends):
            for n in range(flow.number):
                pair = ends[0][n % len(ends[0])], ends[1][n % len(ends[1])]
                if pair[0] != pair[1]:
                    found.setdefault(pair, entry)
    return found


def _looked_for(given: Given, pairs: tuple[Pair, ...]) -> Mapping[Pair, Way]:
    flows = [_flow(i, *pair) for i, pair in enumerate(pairs)]
    paths, *_ = core.network(json.dumps({**_plan(given), "flows": flows}))
    names = [hop[0] for hop in given.hops]
    return {
        (path.from_, path.to): Way(
            tuple(names[link] for link in path.there),
            tuple(names[link] for link in path.back),
            Time(path.base_rtts_ns[0][1]),
        )
        for path in paths
    }


_found: Final = remembered(4)(_looked_for)


def _is_joined(given: Given, pair: Pair) -> bool:
    try:
        return bool(_looked_for(given, (pair,)))
    except RuntimeError:
        return False


def _plan(given: Given) -> Mapping[str, object]:
    """A plan of these nodes and plain links, without flows."""
    return {
        "name": "ways",
        "duration_ns": 1,
        "seed": 0,
        "nodes": [_node(node) for node in given.nodes],
        "links": [_link(*hop) for hop in given.hops],
        "spread": given.spread,
        "anycast": given.anycast,
        "record": {"sample_interval_ns": 1, "packets": False},
        "emulate": {"ring_bytes": 0, "spin_ns": 0, "arena_bytes": 0},
    }


def _node(node: NetworkNode) -> Mapping[str, object]:
    if node.kind == "switch":
        return {"kind": node.kind, "name": node.name}
    interfaces = [
        {"name": one.name, "mac": one.mac, "addresses": one.addresses, "vlans": one.vlans and asdict(one.vlans)}
        for one in node.interfaces
    ]
    if node.kind == "bridge":
        return {"kind": node.kind, "name": node.name, "interfaces": interfaces, "stp": node.stp and _tree(node.stp)}
    return {"kind": node.kind, "name": node.name, "address": node.address, "sysctl": {}, "interfaces": interfaces}


def _tree(stp: SpanningTree) -> Mapping[str, int]:
    times = {"hello_ns": stp.hello, "forward_delay_ns": stp.forward_delay, "max_age_ns": stp.max_age}
    return {"priority": stp.priority, **{key: int(time) for key, time in times.items()}}


def _link(
    name: str,
    from_: str,
    from_interface: str | None,
    to: str,
    to_interface: str | None,
    cost: int,
    delay: int,
    up: bool,
) -> Mapping[str, object]:
    plain = {"rate_bps": None, "overhead_bytes": 0, "buffer": "unlimited", "delay_ns": delay}
    ends = {"from": from_, "from_interface": from_interface, "to": to, "to_interface": to_interface}
    return {"name": name, "cost": cost, "up": up, **ends, **plain}


def _flow(i: int, from_: str, to: str) -> Mapping[str, object]:
    ping = {"kind": "ping", "interval_ns": 1, "payload_bytes": 56}
    return {"id": f"f{i}", "from": from_, "to": to, "start_ns": 0, "stop_ns": 1, "port": 1, "workload": ping}
