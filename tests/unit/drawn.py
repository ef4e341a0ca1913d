"""A network of two LANs behind two routers, and its plan: for tests of drawn networks."""

import tomllib
from typing import Any

from graphs import flow, graph, link

from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.scenario.file.loading import load

TEXT = graph(
    link("h1", "r1"),
    link("h2", "s1"),
    link("h3", "s1"),
    link("s1", "r2"),
    link("r1", "r2", "core", rate="10 Mbit/s", delay="15 ms"),
    flow("h1", "h2"),
    name="base",
)
"""h1 - r1 - r2 - s1, with h2 and h3 at the switch."""


def base(**topology: Any) -> dict[str, Any]:
    """The scenario as a dict, with other values in `topology`."""
    found = tomllib.loads(TEXT)
    found["topology"] |= topology
    return found


def planned(scenario: dict[str, Any]) -> Plan:
    """Its plan."""
    return expand(load(scenario))
