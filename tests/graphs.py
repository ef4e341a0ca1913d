"""Scenarios of drawn networks for all tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from dumbbell.plan.types import Link

KINDS = {"s": "switch", "r": "router"}
"""The kind of a node by the first letter of its name. Others are hosts."""

Nodes = Mapping[str, Mapping[str, Any]]


def graph(
    *tables: str, nodes: Nodes | None = None, name: str = "test", duration: str | None = "2 s", **topology: Any
) -> str:
    """The scenario of a drawn network.

    Args:
        tables: what `link`, `flow` and `event` return.
        nodes: name -> keys of those that need more than a kind; the other nodes are those that the links name.
        duration: `None` leaves it out, as a lab may.
        topology: other keys of `[topology]`.
    """
    head = [f"name = {_toml(name)}", *([f"duration = {_toml(duration)}"] if duration else [])]
    network = ["[topology]", *_lines({"kind": "graph", **topology}), "", "[topology.nodes]"]
    return "\n".join([*head, "", *network, *_lines(_nodes(tables, nodes or {})), "", *tables])


def link(a: str, b: str, name: str | None = None, **keys: Any) -> str:
    """A `[[topology.links]]` table."""
    return _table("topology.links", {**({"name": name} if name else {}), "between": [a, b], **keys})


def flow(source: str = "h1", to: str = "h2", **keys: Any) -> str:
    """A `[[flows]]` table."""
    return _table("flows", {"from": source, "to": to, **keys})


def program(node: str, command: str = "true", **keys: Any) -> str:
    """A `[[programs]]` table."""
    return _table("programs", {"node": node, "command": command, **keys})


def event(at: str, **keys: Any) -> str:
    """An `[[events]]` table."""
    return _table("events", {"at": at, **keys})


def large(flows: int = 20, routers: int = 714, hosts: int = 40, links: int = 899, seed: int = 1) -> str:
    """A network of 754 nodes and 1,798 limited directions, as large as the largest of the Internet Topology Zoo.

    Args:
        flows: from a host to another, for 2 s.
        routers: each is joined to one of the three before it, so that paths are long.
        hosts: each at a router of its own.
        links: with those that make shorter ways.
        seed: of the shape and of the rates and delays.
    """
    random = Random(seed)
    pairs = [(f"r{i}", f"r{max(1, i - random.randint(12, 40))}") for i in range(2, routers + 1)]
    pairs += [(f"h{i}", f"r{random.randint(1, routers)}") for i in range(1, hosts + 1)]
    known = {frozenset(pair) for pair in pairs}
    while len(pairs) < links:
        a, b = random.sample(range(1, routers + 1), 2)
        pair = f"r{a}", f"r{b}"
        if frozenset(pair) not in known:
            known.add(frozenset(pair))
            pairs.append(pair)
    return graph(
        *(link(a, b, rate=f"{random.randint(20, 200)} Mbit/s", delay=f"{random.randint(1, 9)} ms") for a, b in pairs),
        *(flow(f"h{i % hosts + 1}", f"h{(i + hosts // 2) % hosts + 1}", cc="cubic") for i in range(flows)),
        name="large",
    )


def diamond(flows: int, **keys: Any) -> str:
    """Many flows of datagrams from h1 to h2, each of which takes the link `upper` or `lower`, which cost the same.

    Args:
        flows: so many.
        keys: as those of `graph`.
    """
    return graph(
        link("h1", "r1"),
        link("r1", "r2", "upper", delay="1 ms"),
        link("r1", "r3", "lower", delay="1 ms"),
        link("r2", "r4"),
        link("r3", "r4"),
        link("r4", "h2"),
        flow(connections=flows, protocol="udp", rate="100 kbit/s", payload="100 B"),
        spread="flows",
        **keys,
    )


def narrow(between: str = "router", **keys: Any) -> str:
    """A TCP flow, datagrams and pings from h1 to h2, over a link whose packets have at most 1,000 bytes.

    Args:
        between: `router`: the sender learns of the MTU by ICMP; `host`: it is its own interface's.
        keys: as those of `graph`.
    """
    ends = [("h1", "r1", {}), ("r1", "r2", {"name": "core", "rate": "10 Mbit/s", "delay": "5 ms"}), ("r2", "h2", {})]
    narrow = 1 if between == "router" else 0
    return graph(
        *(link(a, b, **more, **({"mtu": 1000} if i == narrow else {})) for i, (a, b, more) in enumerate(ends)),
        flow(bytes="300 kB"),
        flow(protocol="udp", rate="1 Mbit/s", start="200 ms"),
        flow(protocol="ping", payload="900 B", interval="100 ms"),
        **keys,
    )


def _nodes(tables: Iterable[str], given: Nodes) -> dict[str, dict[str, Any]]:
    named: set[str] = set(given)
    for table in tables:
        named.update(*(json.loads(line[10:]) for line in table.splitlines() if line.startswith("between = ")))
    # Hosts come first, then switches and routers.
    order = sorted(named, key=lambda node: (["", *KINDS].index(node[0] if node[0] in KINDS else ""), node))
    kinds = {node: {"kind": KINDS[node[0]]} if node[0] in KINDS else {} for node in order}
    return {node: {**kinds[node], **given.get(node, {})} for node in order}


def _table(header: str, keys: Mapping[str, Any]) -> str:
    return "\n".join([f"[[{header}]]", *_lines(keys), ""])


def _lines(keys: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in keys.items()]


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_lines(value)) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # JSON's texts, numbers and booleans are TOML's.
    return json.dumps(value)


VLANS = graph(
    link("h1", "s1", vlan=10),
    link("h2", "s1", vlan=20),
    link("h3", "s2", vlan=10),
    link("h4", "s2", vlan=20),
    link("s1", "s2", "trunk", vlans=[10, 20], rate="50 Mbit/s", delay="1 ms"),
    link("r1", "s1", vlan=10),
    link("r1", "s1", vlan=20),
    flow("h1", "h3", id="same", bytes="200 kB"),
    flow("h2", "h3", id="routed", bytes="200 kB"),
    nodes={"s1": {"bridge": True}, "s2": {"bridge": True}},
    name="vlans",
    duration="3 s",
)
"""Two VLANs over a trunk between two bridges; a router joins them."""


def transparent(name: str, from_: str, to: str, delay_ns: int) -> Link:
    """A link without a limit, on which nothing happens to a packet but its delay."""
    return Link(name=name, from_=from_, to=to, rate_bps=None, overhead_bytes=0, buffer="unlimited", delay_ns=delay_ns)
