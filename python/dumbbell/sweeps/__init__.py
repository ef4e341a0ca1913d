"""Many simulated runs of variations of a scenario."""

from dumbbell.sweeps.results import Sweep
from dumbbell.sweeps.run import sweep

__all__ = ["Sweep", "sweep"]
