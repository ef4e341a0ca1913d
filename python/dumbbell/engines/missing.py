"""Finds what this machine lacks to carry out a plan, without starting what a scenario brings."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dumbbell.engines.protocol import Engine
from dumbbell.errors import Problem
from dumbbell.machine import has_module
from dumbbell.plan.algorithms import available, lacking, own
from dumbbell.plan.types import ObjectSource, Plan
from dumbbell.scenario.model import Scenario


def missing(engine: Engine, scenario: Scenario, plan: Plan, may_start: bool) -> Iterable[Problem]:
    """Yields problems that keep `engine` from carrying out `plan` here, for somebody who only looks at it.

    Args:
        engine: that would carry it out.
        scenario: which is planned.
        plan: of it.
        may_start: true if its programs may be compiled, loaded and read by other programs: all checks apply. If false,
            only congestion controls that this kernel lacks are told, if it is the engine's.
    """
    known = engine.capabilities
    if known.models_tcp:  # It compiles what the scenario brings, and nothing else.
        brings = any(isinstance(one.source, ObjectSource) for one in plan.algorithms)
        return engine.check(scenario, plan) if may_start or not brings else []
    named, there = set(own(scenario).values()), set(available())
    # This kernel loads a module for root who asks for it.
    loads = os.geteuid() == 0 and not known.any_kernel and not named <= there
    if may_start and not loads:
        return engine.check(scenario, plan)
    if known.any_kernel:
        return []
    return lacking(scenario, there.union(name for name in named if has_module(f"tcp_{name}")))
