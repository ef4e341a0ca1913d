"""Paths through a plan, by the engines' rule: fewest links; among equals, the links that the plan lists first."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

Link = Mapping[str, Any]


def path(plan: Mapping[str, Any], source: str, target: str) -> list[Link]:
    """The links from host `source` to host `target`; raises ValueError if no path exists.

    The search runs backwards from `target`, as the engines' does, so that equal lengths are decided alike.
    """
    hosts = {node["name"] for node in plan["nodes"] if node["kind"] == "host"}
    following: dict[str, Link] = {}
    queue = deque([target])
    while queue:
        node = queue.popleft()
        if node != target and node in hosts:
            continue  # hosts don't forward
        for link in plan["links"]:
            if link["to"] == node and link["from"] != target and link["from"] not in following:
                following[link["from"]] = link
                queue.append(link["from"])
    links, node = [], source
    while node != target:
        if node not in following:
            raise ValueError(f"no path from {source} to {target}")
        links.append(following[node])
        node = following[node]["to"]
    return links


def base_rtt_ns(plan: Mapping[str, Any], flow: Mapping[str, Any]) -> int:
    """Propagation delay of the flow's path, there and back, in ns. Serialisation is not in it."""
    there, back = path(plan, flow["from"], flow["to"]), path(plan, flow["to"], flow["from"])
    return sum(link["delay_ns"] for link in (*there, *back))


def smallest_base_rtt_ns(plan: Mapping[str, Any]) -> int:
    """The smallest base RTT of any flow, in ns; 0 without flows."""
    return min((base_rtt_ns(plan, flow) for flow in plan["flows"]), default=0)
