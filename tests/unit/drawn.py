"""A network of two LANs behind two routers, and its plan: for tests of drawn networks."""

import tomllib
from typing import Any

from dumbbell.plan import Plan, expand
from dumbbell.scenario.file.loading import load

TEXT = """\
name = "base"
duration = "2 s"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
h2 = {}
h3 = {}
s1 = { kind = "switch" }
r1 = { kind = "router" }
r2 = { kind = "router" }

[[topology.links]]
between = ["h1", "r1"]

[[topology.links]]
between = ["h2", "s1"]

[[topology.links]]
between = ["h3", "s1"]

[[topology.links]]
between = ["s1", "r2"]

[[topology.links]]
name = "core"
between = ["r1", "r2"]
rate = "10 Mbit/s"
delay = "15 ms"

[[flows]]
from = "h1"
to = "h2"
"""
"""h1 - r1 - r2 - s1, with h2 and h3 at the switch."""


def base(**topology: Any) -> dict[str, Any]:
    """The scenario as a dict, with other values in `topology`."""
    found = tomllib.loads(TEXT)
    found["topology"] |= topology
    return found


def planned(scenario: dict[str, Any]) -> Plan:
    """Its plan."""
    return expand(load(scenario))
