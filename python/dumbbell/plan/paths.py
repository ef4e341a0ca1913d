"""The links that packets take."""

from __future__ import annotations

from collections import deque
from typing import Any

from dumbbell.plan.expand import Plan


def path(plan: Plan, from_: str, to: str) -> list[dict[str, Any]]:
    """The links from one host to another: as few as possible; among equals, those that the plan lists first.

    The engines' rule (crate `plan`, `Routes`): the search runs backwards from `to`, and hosts don't forward.
    """
    hosts = {node["name"] for node in plan["nodes"] if node["kind"] == "host"}
    next_link: dict[str, dict[str, Any]] = {}
    queue = deque([to])
    while queue:
        node = queue.popleft()
        if node != to and node in hosts:
            continue
        for link in plan["links"]:
            if link["to"] == node and link["from"] != to and link["from"] not in next_link:
                next_link[link["from"]] = link
                queue.append(link["from"])
    links = []
    while from_ != to:
        links.append(next_link[from_])
        from_ = next_link[from_]["to"]
    return links


def base_rtt_ns(plan: Plan, from_: str, to: str) -> int:
    """Propagation there and back, without serialisation and queues."""
    return sum(link["delay_ns"] for link in path(plan, from_, to) + path(plan, to, from_))
