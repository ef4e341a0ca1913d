"""Estimates how long a study in real time will take, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dumbbell.execute import Budget, Fixed
from dumbbell.execute.cost import cores
from dumbbell.studies.planning import Planned
from dumbbell.studies.schedule import Scheduled

BESIDE_S: Final = 1.0
"""Time of a run beside its duration: to build a lab, to judge, to write."""


def forecast(plans: Sequence[Planned], runs: Sequence[Scheduled], room: Budget | Fixed) -> dict[str, Any]:
    """`at_once`: runs at a time on average; `forecast_s`: how long they take if none is repeated."""
    costs = [cores(plan.read()) for plan in plans]
    alone_s = sum(plans[run.cell].duration_s + BESIDE_S for run in runs)
    if isinstance(room, Fixed):
        at_once = float(min(room.most, max(len(runs), 1)))
    else:
        busy = sum((plans[run.cell].duration_s + BESIDE_S) * min(costs[run.cell], room.cores) for run in runs)
        at_once = min(
            max(alone_s * room.cores / busy if busy else 1.0, 1.0), float(room.most), float(max(len(runs), 1))
        )
    longest_s = max((plans[run.cell].duration_s + BESIDE_S for run in runs), default=0.0)
    return {"at_once": at_once, "forecast_s": max(alone_s / at_once, longest_s)}
