"""How many runs at a time: as many as the machine can run validly.

Runs share a number of cores. When one turns out to be disturbed by the others, the number shrinks; after a row of valid
ones it grows a little (additive increase, multiplicative decrease, as TCP itself: D.-M. Chiu and R. Jain, Computer
Networks and ISDN Systems 17:1, 1989).
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
"""Rules that other runs beside can break. Not steal and stall: the hypervisor does that to a single run, too."""

AFTER_SUSPECT: Final = 0.85
AFTER_INVALID: Final = 0.6
GROWTH: Final = 0.1
"""Of the machine's cores, after a row of valid runs."""
START: Final = 0.75
"""Times the machine's cores: runs are to find a CPU when they wake up."""
CEILING: Final = 2.0
"""Times the machine's cores: what plans are reckoned to need may be too much."""


class Room(Protocol):
    """Says whether another run may begin, and learns from those that end."""

    def admits(self, job: Any, beside: int) -> bool:
        """Whether `job` may begin beside so many."""
        ...

    def begin(self, job: Any) -> None:
        """It begins."""
        ...

    def end(self, job: Any, run: Any) -> None:
        """It has ended; `None`: it failed."""
        ...

    @property
    def most(self) -> int:
        """Runs at a time, however little each needs."""
        ...


@dataclass(frozen=True)
class Fixed:
    """So many at a time."""

    most: int

    def admits(self, job: Any, beside: int) -> bool:
        """Up to the number."""
        return beside < self.most

    def begin(self, job: Any) -> None:
        """Nothing to note."""

    def end(self, job: Any, run: Any) -> None:
        """Nothing to learn."""


class Budget:
    """A number of cores that the runs share."""

    def __init__(self, cores: float | None = None) -> None:
        """Of this machine, or another number."""
        self._machine = float(cores or len(os.sched_getaffinity(0)))
        self.cores = START * self._machine
        """What runs may use now."""
        self._costs: dict[Hashable, tuple[float, int]] = {}
        """By kind, what finished runs have cost, and how many."""
        self._going: dict[Hashable, tuple[float, int, int]] = {}
        """By key: its cost, how many there were with it at most, and which era it began in."""
        self._era, self._valid = 0, 0
        self._alone_suspect = False
        """A run without company was disturbed: on this machine suspect ones say nothing of company."""

    @property
    def most(self) -> int:
        """Each run has a process or five and a thread here."""
        return int(16 * self._machine)

    def cost(self, job: Job[Any]) -> float:
        """In cores: as runs of its kind have cost, or as its plan says."""
        return self._costs.get(job.kind, (job.cores, 0))[0]

    def at_once(self, job: Job[Any]) -> int:
        """How many such jobs would run at a time."""
        return max(1, min(int(self.cores / self.cost(job) + 1e-9), self.most))

    def admits(self, job: Job[Any], beside: int) -> bool:
        """If it fits beside what goes on; alone always."""
        used = sum(cost for cost, _, _ in self._going.values())
        return not beside or (used + self.cost(job) <= self.cores and beside < self.most)

    def begin(self, job: Job[Any]) -> None:
        """It takes its share, and whoever goes on has one more beside."""
        self._going[job.key] = (self.cost(job), 0, self._era)
        together = len(self._going)
        self._going = {key: (cost, max(most, together), era) for key, (cost, most, era) in self._going.items()}

    def end(self, job: Job[Any], run: Run | None) -> None:
        """It gives its share back, and tells whether it was disturbed."""
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
            # Once for all that went on together: they were disturbed by the same crowd.
            self.cores *= AFTER_INVALID if run.verdict == "invalid" else AFTER_SUSPECT
            self.cores = max(self.cores, self.cost(job))
            self._era, self._valid = self._era + 1, 0

    def _learn(self, job: Job[Any], manifest: Mapping[str, Any]) -> None:
        cost = measured(manifest)
        if cost is not None and job.kind is not None:
            mean, count = self._costs.get(job.kind, (0.0, 0))
            self._costs[job.kind] = ((mean * count + cost) / (count + 1), count + 1)
