"""Many runs: on this machine, several at once."""

from dumbbell.execute.local import ATTEMPTS, Carried, Job, carry_out, look_up
from dumbbell.execute.progress import Progress

__all__ = ["ATTEMPTS", "Carried", "Job", "Progress", "carry_out", "look_up"]
