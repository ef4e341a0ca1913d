"""Builds labs: from a scenario, whose network it has, and the plan of a lab that stays."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

from pydantic import Field

from dumbbell.engines.realm import machine
from dumbbell.engines.realm.outside import check_outside
from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.scenario.file.loading import Draft, checked, read
from dumbbell.scenario.file.overrides import Overrides
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.traffic.flows import Flow
from dumbbell.units import Duration

LONGEST: Final = Duration(1_000 * 86_400 * 1_000_000_000)
"""The time for which a lab stays at most: 1,000 days."""
ROWS_NS: Final = 1_000_000_000
"""The spacing of a lab's rows of links, which nobody reads unless it fails."""


class LabScenario(Scenario):
    """A scenario for a lab, which needs no flows and no duration."""

    duration: Duration = Field(default=Duration(10_000_000_000), description="How long traffic flows.")
    flows: list[Flow] = Field(default=[], description="The traffic, which `traffic` starts.")


def load(source: str | os.PathLike[str], overrides: Overrides = ()) -> LabScenario:
    """The scenario of a lab. Raises `InputError`, as loading a scenario of a run does."""
    return of_draft(read(source, overrides))


def of_draft(draft: Draft) -> LabScenario:
    """The scenario of a lab. Raises `ScenarioError` with all that is wrong with it."""
    found = checked(draft, LabScenario)
    assert isinstance(found, LabScenario), "as asked for"
    return found


def plan_of(scenario: LabScenario) -> tuple[Plan, Plan]:
    """The plan of the lab, and the plan of the scenario, whose flows can be carried out in it.

    Raises:
        InputError: the scenario, or this machine, does not allow it.
    """
    plan = expand(scenario)
    if problems := [*machine.check(scenario, plan), *check_outside(scenario, plan)]:
        raise ScenarioError(problems)
    lab = replace(
        plan,
        flows=(),
        events=(),
        daemon_events=(),
        programs=(),
        duration_ns=int(LONGEST),
        record=replace(plan.record, sample_interval_ns=ROWS_NS, packets=False, acks="off"),
        changeable=True,
    )
    return lab, plan
