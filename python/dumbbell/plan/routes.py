"""The links that packets take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any


class Routes:
    """The links from one host to another: as few as possible; among equals, those that the plan lists first.

    The engines' rule (crate `plan`, `Routes`): the search runs backwards from the destination, and hosts don't forward.
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._hosts = {node["name"] for node in plan["nodes"] if node["kind"] == "host"}
        self._into: dict[str, list[dict[str, Any]]] = {}
        for link in plan["links"]:
            self._into.setdefault(link["to"], []).append(link)

    def path(self, from_: str, to: str) -> list[dict[str, Any]]:
        """The links that a packet passes."""
        next_link: dict[str, dict[str, Any]] = {}
        queue = deque([to])
        while queue and from_ not in next_link:
            node = queue.popleft()
            if node != to and node in self._hosts:
                continue
            for link in self._into.get(node, ()):
                if link["from"] != to and link["from"] not in next_link:
                    next_link[link["from"]] = link
                    queue.append(link["from"])
        links = []
        while from_ != to:
            links.append(next_link[from_])
            from_ = next_link[from_]["to"]
        return links


def path(plan: Mapping[str, Any], from_: str, to: str) -> list[dict[str, Any]]:
    """The links from one host to another."""
    return Routes(plan).path(from_, to)


def base_rtt_ns(plan: Mapping[str, Any], flow: Mapping[str, Any]) -> int:
    """Propagation on the flow's path, there and back, in ns; without serialisation and queues."""
    there, back = path(plan, flow["from"], flow["to"]), path(plan, flow["to"], flow["from"])
    return sum(link["delay_ns"] for link in there + back)


def least_delay_ns(states: Iterable[Mapping[str, Any]]) -> int:
    """The shortest time that any packet takes from a link's serializer to its end; it is in each of `states` once."""
    # Jitter only adds to the delay; who overtakes has one of its own.
    return min(int(min(link["delay_ns"], (link.get("reorder") or link)["delay_ns"])) for link in states)


def least_rtts_ns(plan: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Ends of flows -> the least RTT that their path allows at any time, in ns; without serialisation and queues.

    The engines' rule (crate `plan`, `Plan::least_delays`): of links that events change, the least of their delays.
    """
    states: dict[str, list[Mapping[str, Any]]] = {}
    for link in (*plan["links"], *(event["link"] for event in plan["events"])):
        states.setdefault(link["name"], []).append(link)
    least = {name: least_delay_ns(found) for name, found in states.items()}
    routes = Routes(plan)
    ends = {(flow["from"], flow["to"]) for flow in plan["flows"]}
    return {(a, b): sum(least[link["name"]] for link in routes.path(a, b) + routes.path(b, a)) for a, b in ends}


def smallest_base_rtt_ns(plan: Mapping[str, Any]) -> int:
    """The smallest base RTT of any flow, in ns; 0 without flows."""
    return min((base_rtt_ns(plan, flow) for flow in plan["flows"]), default=0)


def transparent_links(plan: Mapping[str, Any]) -> set[str]:
    """Names of the links on which nothing can happen to a packet at any time (`Plan::transparent_links`)."""
    changed = {event["link"]["name"] for event in plan.get("events", []) if not is_transparent(event["link"])}
    return {link["name"] for link in plan["links"] if is_transparent(link)} - changed


def is_transparent(link: Mapping[str, Any]) -> bool:
    """Whether nothing can happen to a packet on `link` as it is, so that it is counted and not logged."""
    idle = link["rate_bps"] is None and not any(link.get(key) for key in _DOES)
    return idle and bool(link.get("up", True))


_DOES = (
    *(
        "variation",
        "slots",
        "policer",
        "delay_ns",
        "jitter",
        "reorder",
        "delay_line_packets",
        "loss_before",
        "loss_after",
    ),
    *("duplication", "corruption"),
)
