"""Limits the runs at a time to as many as the machine can run validly.

Runs share a number of cores. When other runs have disturbed one, the number shrinks; after a series of valid runs it
grows a little (additive increase, multiplicative decrease, as TCP itself: D.-M. Chiu and R. Jain, Computer Networks and
ISDN Systems 17:1, 1989).
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from dumbbell.execute.cost import measured
from dumbbell.execute.job import Job
from dumbbell.records.run import Run

CROWDED: Final = frozenset(
    ["lateness", "read-lag", "emulator-starved", "traffic-starved", "samples", "udp-schedule", "ring-drops", "softnet"]
)
"""Checks that concurrent runs can violate. Steal and stall are not among them: the hypervisor also causes those in a
single run."""

AFTER_SUSPECT: Final = 0.85
AFTER_INVALID: Final = 0.6
GROWTH: Final = 0.1
"""Share of the machine's cores by which the budget grows after a series of valid runs."""
START: Final = 0.75
"""Initial budget as a share of the machine's cores: runs then find a CPU when they wake up."""
CEILING: Final = 2.0
"""Largest budget in machine's cores: the estimate from plans may be too high."""


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
    """A number of cores that the runs share."""

    def __init__(self, cores: float | None = None) -> None:
        """Start with this machine's cores, or another number."""
        self._machine = float(cores or len(os.sched_getaffinity(0)))
        self.cores = START * self._machine
        """Cores that runs may use now."""
        self._costs: dict[Hashable, tuple[float, int]] = {}
        """Kind -> cost of finished runs, and their number."""
        self._going: dict[Hashable, tuple[float, int, int]] = {}
        """Key -> the run's cost, the most runs beside it, and the era in which it began."""
        self._era, self._valid = 0, 0
        self._alone_suspect = False
        """A run that ran alone was suspect, so on this machine a suspect run does not show that others disturbed it."""

    @property
    def most(self) -> int:
        """Limit from processes: each run has up to five, and a thread here."""
        return int(16 * self._machine)

    def cost(self, job: Job[Any]) -> float:
        """Cost in cores: that of finished runs of its kind, or the estimate from its plan."""
        return self._costs.get(job.kind, (job.cores, 0))[0]

    def at_once(self, job: Job[Any]) -> int:
        """The number of such jobs that would run at a time."""
        return max(1, min(int(self.cores / self.cost(job) + 1e-9), self.most))

    def admits(self, job: Job[Any], beside: int) -> bool:
        """True if the job fits beside the runs in progress; a job alone always does."""
        used = sum(cost for cost, _, _ in self._going.values())
        return not beside or (used + self.cost(job) <= self.cores and beside < self.most)

    def begin(self, job: Job[Any]) -> None:
        """Take the job's share; every run in progress now has one more beside it."""
        self._going[job.key] = (self.cost(job), 0, self._era)
        together = len(self._going)
        self._going = {key: (cost, max(most, together), era) for key, (cost, most, era) in self._going.items()}

    def end(self, job: Job[Any], run: Run | None) -> None:
        """Give the job's share back, and adapt the budget to its verdict."""
        _, together, era = self._going.pop(job.key)
        if run is None:
            return
        self._learn(job, run.manifest)
        disturbed = CROWDED.intersection(reason["check"] for reason in run.summary["reasons"])
        if not disturbed:
            self._valid += run.verdict == "valid"
            if self._valid >= 2 * together:
                self.cores = min(self.cores + GROWTH * self._machine, CEILING * self._machine)
                self._valid = 0
        elif together == 1:
            if run.verdict == "suspect" and not self._alone_suspect:
                self._alone_suspect, self.cores = True, max(self.cores, START * self._machine)
        elif era == self._era and not (run.verdict == "suspect" and self._alone_suspect):
            # Shrinks once for all runs that ran together: the same load disturbed them.
            self.cores *= AFTER_INVALID if run.verdict == "invalid" else AFTER_SUSPECT
            self.cores = max(self.cores, self.cost(job))
            self._era, self._valid = self._era + 1, 0

    def _learn(self, job: Job[Any], manifest: Mapping[str, Any]) -> None:
        cost = measured(manifest)
        if cost is not None and job.kind is not None:
            mean, count = self._costs.get(job.kind, (0.0, 0))
            self._costs[job.kind] = ((mean * count + cost) / (count + 1), count + 1)
