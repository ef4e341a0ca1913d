"""What this machine lacks to carry out a plan, found without starting what a scenario brings."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dumbbell.engines.protocol import Engine
from dumbbell.errors import Problem
from dumbbell.machine import has_module
from dumbbell.plan.algorithms import available, lacking, own
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario


def missing(engine: Engine, scenario: Scenario, plan: Plan, may_start: bool) -> Iterable[Problem]:
    """What keeps `engine` from carrying out `plan` here, for somebody who only looks at it.

    Args:
        engine: that would carry it out.
        scenario: which is planned.
        plan: of it.
        may_start: true if its programs may be compiled, loaded and read by other programs: all checks apply. If false,
            only congestion controls that the kernel lacks are told.
    """
    named, there = set(own(scenario).values()), set(available())
    # The kernel loads a module for root who asks for it.
    if may_start and (named <= there or os.geteuid() != 0):
        return engine.check(scenario, plan)
    return lacking(scenario, there.union(name for name in named if has_module(f"tcp_{name}")))
