"""Limits the runs at a time to as many as the machine can run validly.

Runs share a number of cores, each by what it is expected to need. However little they need, a `Window` limits their
number.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any, Final, Protocol

from dumbbell.analysis.machine import MACHINE
from dumbbell.analysis.thresholds import CPUS
from dumbbell.execute.cost import beside, measured
from dumbbell.execute.job import Job
from dumbbell.execute.window import Window
from dumbbell.frozen import dataclass
from dumbbell.records.run import Run

SHARE: Final = 0.75
"""Share of the machine's cores that runs may need: they then find a CPU when they wake up."""


class Room(Protocol):
    """Decides whether another run may begin, and learns from those that end."""

    def admits(self, job: Any, beside: int) -> bool:
        """True if `job` may begin beside `beside` others."""
        ...

    def begin(self, job: Any) -> None:
        """Note that `job` begins."""
        ...

    def end(self, job: Any, run: Any) -> None:
        """Note that `job` has ended with `run`; `None`: it failed."""
        ...

    @property
    def most(self) -> int:
        """The most runs at a time, however little each needs."""
        ...


@dataclass(frozen=True)
class Fixed:
    """A fixed number of runs at a time."""

    most: int

    def admits(self, job: Any, beside: int) -> bool:
        """True if fewer than the number are in progress."""
        return beside < self.most

    def begin(self, job: Any) -> None:
        """Does nothing."""

    def end(self, job: Any, run: Any) -> None:
        """Does nothing."""


class Budget:
    """A number of cores that the runs share, and a window of runs."""

    def __init__(self, cores: float | None = None) -> None:
        """Start with this machine's cores, or another number."""
        machine = float(cores or len(os.sched_getaffinity(0)))
        self.cores = SHARE * machine
        """Cores that runs may use."""
        self.most = max(int(16 * machine), 1)
        """Limit from processes: each run has up to five, and a thread here."""
        self.window = Window(max(int(machine / CPUS), 1), self.most)
        """The number of runs at a time."""
        self._costs: dict[Hashable, tuple[float, int]] = {}
        """Kind -> cost of finished runs, and their number."""
        self._going: dict[Hashable, tuple[float, int, int]] = {}
        """Key -> the run's cost, the most runs beside it, and the era in which it began."""

    def cost(self, job: Job[Any]) -> float:
        """Cost in cores: that of finished runs of its kind, or the estimate from its plan."""
        return self._costs.get(job.kind, (job.cores, 0))[0]

    def admits(self, job: Job[Any], beside: int) -> bool:
        """True if the job fits beside the runs in progress; a job alone always does.

        One that is carried out again, because others may have disturbed it, has CPUs of its own.
        """
        used = sum(cost for cost, _, _ in self._going.values())
        most = self.window.safe if job.again else self.window.size
        return not beside or (used + self.cost(job) <= self.cores and beside < most)

    def begin(self, job: Job[Any]) -> None:
        """Take the job's share; every run in progress now has one more beside it."""
        self._going[job.key] = (self.cost(job), 0, self.window.era)
        together = len(self._going)
        self._going = {key: (cost, max(most, together), era) for key, (cost, most, era) in self._going.items()}

    def end(self, job: Job[Any], run: Run | None) -> None:
        """Give the job's share back, and adapt the window to its verdict."""
        _, together, era = self._going.pop(job.key)
        if run is None:
            return
        self._learn(job, run.manifest)
        disturbed = not MACHINE.isdisjoint(reason["check"] for reason in run.summary["reasons"])
        self.window.end(disturbed, together, era)

    def _learn(self, job: Job[Any], manifest: Mapping[str, object]) -> None:
        cost = measured(manifest)
        if cost is not None and job.kind is not None:
            mean, count = self._costs.get(job.kind, (0.0, 0))
            self._costs[job.kind] = ((mean * count + cost + beside(job.duration_s)) / (count + 1), count + 1)
