"""The way of a lab to this machine's network: what it needs, and where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Final

from dumbbell.errors import Problem
from dumbbell.plan.parts import gateway
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding

PROGRAM: Final = "slirp4netns"
"""A network stack of the user's. pasta, as Debian 12 has it, knows one address in the lab; this one knows all."""


def refuse_outside(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """The problem of a run with such a router."""
    what, hint = "a run depends on its plan alone, and reaches no network of this machine", "dumbbell lab up FILE does"
    yield from _problem(scenario, plan, what, f"leave nat out; {hint}")


def check_outside(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Finds what such a router needs and this machine lacks."""
    if (missing := lacking()) is not None:
        yield from _problem(scenario, plan, *missing)


def lacking() -> tuple[str, str] | None:
    """Returns what this machine lacks, and a fix; `None`: nothing."""
    if shutil.which(PROGRAM) is None:
        return f"this machine lacks {PROGRAM}", f"sudo apt-get install {PROGRAM}"
    return None


def _problem(scenario: Scenario, plan: Plan, what: str, hint: str) -> Iterator[Problem]:
    name = gateway(plan)
    if name is not None:
        yield scenario.source.problem(Finding(("topology", "nodes", name, "nat"), what, "", hint))
