"""The expanded run: nodes, links and flows with every default filled in, for any engine."""

from dumbbell.plan.expand import expand
from dumbbell.plan.identity import run_id
from dumbbell.plan.types import Plan

__all__ = ["Plan", "expand", "run_id"]
