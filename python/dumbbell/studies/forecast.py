"""Estimates how long a study will take, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final, TypeVar

from dumbbell.engines.protocol import Engine
from dumbbell.execute import Budget, Fixed
from dumbbell.execute.cost import cores
from dumbbell.execute.window import rounds
from dumbbell.plan.types import Plan

T = TypeVar("T")

MOST: Final = 100
"""The most cells whose plans are looked at: reading one takes a millisecond."""


def sample(cells: Sequence[T]) -> list[T]:
    """At most `MOST` of them, evenly spread."""
    step = max(len(cells) / MOST, 1.0)
    return [cells[int(i * step)] for i in range(min(len(cells), MOST))]


def forecast(engine: Engine, plans: Sequence[Plan], runs: int, room: Budget | Fixed) -> dict[str, object]:
    """The time that `runs` runs take if none is repeated.

    Args:
        engine: says how long one takes (`Capabilities.alone_s`).
        plans: of some cells, all cells having as many runs.
        runs: the number of runs.
        room: how many may run at a time.

    Returns:
        `at_once`: runs at a time on average; `forecast_s`: how long they take, in seconds.
    """
    if not plans or not runs:
        return {"at_once": 1.0, "forecast_s": 0.0}
    seconds = [engine.capabilities.alone_s(plan) for plan in plans]
    if isinstance(room, Fixed):
        at_once = float(min(room.most, runs))
    else:
        most = max(int(room.cores / fmean(map(cores, plans))), 1)
        at_once = runs / rounds(runs, min(room.window.safe, most), min(most, room.most))
    return {"at_once": at_once, "forecast_s": max(fmean(seconds) * runs / at_once, max(seconds))}
