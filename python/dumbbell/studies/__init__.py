"""Studies: the runs of a scenario's variations, repeated, on disk and as frames."""

from dumbbell.studies.results import Study
from dumbbell.studies.running import RunOptions, run

__all__ = ["RunOptions", "Study", "run"]
