"""Carries out many runs, several at once on this machine, or on a cluster."""

from dumbbell.execute.budget import Budget, Fixed
from dumbbell.execute.executor import Executor
from dumbbell.execute.job import ATTEMPTS, Carried, Job, look_up
from dumbbell.execute.local import Local, run_jobs
from dumbbell.execute.progress import Progress
from dumbbell.execute.simulations import Simulations

__all__ = [
    "ATTEMPTS",
    "Budget",
    "Carried",
    "Executor",
    "Fixed",
    "Job",
    "Local",
    "Progress",
    "Simulations",
    "look_up",
    "run_jobs",
]
