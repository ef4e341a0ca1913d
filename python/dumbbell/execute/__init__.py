"""Many runs: on this machine, several at once."""

from dumbbell.execute.budget import Budget, Fixed
from dumbbell.execute.job import ATTEMPTS, Carried, Executor, Job, look_up
from dumbbell.execute.local import Local, carry_out
from dumbbell.execute.progress import Progress

__all__ = ["ATTEMPTS", "Budget", "Carried", "Executor", "Fixed", "Job", "Local", "Progress", "carry_out", "look_up"]
