"""The state of a plan's link over time, as events change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Link = Mapping[str, Any]
History = tuple[tuple[int, Link], ...]
"""Since when (ns, the first from 0), and what the link is from then on."""


def histories(plan: Mapping[str, Any]) -> dict[str, History]:
    """The history of each link of `plan`."""
    found: dict[str, list[tuple[int, Link]]] = {link["name"]: [(0, link)] for link in plan["links"]}
    for event in plan["events"]:
        found[event["link"]["name"]].append((event["at_ns"], event["link"]))
    return {name: tuple(states) for name, states in found.items()}


def is_limited(history: History) -> bool:
    """Whether the link has a rate at all times."""
    return all(link["rate_bps"] is not None for _, link in history)


def is_steady(history: History) -> bool:
    """Whether the link has the same rate at all times."""
    first = history[0][1]["rate_bps"]
    return first is not None and all(link["rate_bps"] == first and link["variation"] is None for _, link in history)
