"""The progress of many runs, and when they will be done."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from dumbbell.counts import count
from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Progress:
    """The progress of a batch of runs at one time."""

    done: int
    """Usable runs, including those from disk."""
    total: int
    repeated: int
    """Attempts that were invalid or failed, and were repeated."""
    refused: int
    """Runs given up: no attempt is usable."""
    left_s: float | None
    """Seconds until the last run is done; `None` until one has shown how long they take."""
    redone: int = 0
    """Further attempts of runs that the machine had disturbed."""

    def __str__(self) -> str:
        """`37 of 729 runs, 2 repeated; done at about 15:42`."""
        said = f"{self.done} of {count(self.total, 'run')}"
        said += f", {self.repeated} repeated" if self.repeated else ""
        said += f", {self.redone} done again" if self.redone else ""
        said += f", {self.refused} given up" if self.refused else ""
        if self.left_s is None or self.done + self.refused == self.total:
            return said
        at = datetime.now() + timedelta(seconds=self.left_s)
        return f"{said}; done at about {at:%H:%M}" + (f" ({at:%d %b})" if self.left_s > 86_400 else "")


class Forecast:
    """Counts the outcomes of a batch, and estimates when it will be done.

    The estimate assumes that the remaining runs take as long, per second of their durations, as the finished ones did,
    repetitions included.
    """

    def __init__(self, total: int, kept: int, work_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`kept` of `total` runs are on disk; the others last `work_s` in all."""
        self._total, self._done, self._clock = total, kept, clock
        self._began = clock()
        self._left_s, self._through_s = work_s, 0.0
        self._repeated = self._refused = self._redone = 0

    def repeat(self) -> None:
        """Count an unusable attempt that will be repeated."""
        self._repeated += 1

    def add(self, duration_s: float) -> None:
        """Add a further attempt of a run that is done, but was disturbed."""
        self._left_s += duration_s

    def redo(self, duration_s: float, made: bool) -> None:
        """Count such an attempt that has ended, or was not `made` after all."""
        self._left_s -= duration_s
        if made:
            self._redone += 1
            self._through_s += duration_s

    def end(self, duration_s: float, usable: bool) -> None:
        """Count a run that lasts `duration_s` and is done, or given up."""
        self._done += usable
        self._refused += not usable
        self._left_s -= duration_s
        self._through_s += duration_s

    def now(self) -> Progress:
        """The progress so far."""
        took = self._clock() - self._began
        left = took * self._left_s / self._through_s if self._through_s else None
        return Progress(self._done, self._total, self._repeated, self._refused, left, self._redone)
