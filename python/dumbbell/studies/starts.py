"""Makes repetitions differ where the scenario leaves nothing to chance: their flows start at other times."""

from __future__ import annotations

from typing import Final

from dumbbell.scenario.file.loading import replaced
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.chance import is_random
from dumbbell.scenario.resolve.connections import latest
from dumbbell.units import Time

STARTS: Final = Time(10_000_000)
SHARE: Final = 10
"""Starts move by no more than one part in so many of the shortest flow."""


def moved(scenario: Scenario, repetitions: int) -> Scenario:
    """The scenario with the key `starts`, if it has several repetitions, nothing random, and lacks the key.

    Raises `ScenarioError`.
    """
    if repetitions < 2 or scenario.starts is not None or is_random(scenario):
        return scenario
    lasts = (int(flow.stop or scenario.duration) - latest(flow) for flow in scenario.flows)
    return replaced(scenario, "starts", Time(min(int(STARTS), min(lasts) // SHARE)))
