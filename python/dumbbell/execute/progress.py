"""How far many runs have come, and when they will be through."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Progress:
    """Of a batch of runs, at one time."""

    done: int
    """Runs that can be used, those from disk among them."""
    total: int
    repeated: int
    """Attempts that were invalid or failed, and were made again."""
    refused: int
    """Runs given up: no attempt can be used."""
    left_s: float | None
    """Until the last one is through; `None` before one of them has shown how long they take."""

    def __str__(self) -> str:
        """`37 of 729 runs, 2 repeated; through at about 15:42`."""
        said = f"{self.done} of {self.total} runs"
        said += f", {self.repeated} repeated" if self.repeated else ""
        said += f", {self.refused} given up" if self.refused else ""
        if self.left_s is None or self.done + self.refused == self.total:
            return said
        at = datetime.now() + timedelta(seconds=self.left_s)
        return f"{said}; through at about {at:%H:%M}" + (f" ({at:%d %b})" if self.left_s > 86_400 else "")


class Forecast:
    """Counts what becomes of a batch; tells when it will be through.

    What is left takes as long for each second of its runs' durations as what is done took, repetitions included.
    """

    def __init__(self, total: int, found: int, work_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Of `total` runs, `found` are on disk; the others last `work_s` in all."""
        self._total, self._done, self._clock = total, found, clock
        self._began = clock()
        self._left_s, self._through_s = work_s, 0.0
        self._repeated = self._refused = 0

    def repeat(self) -> None:
        """An attempt can't be used; there will be another."""
        self._repeated += 1

    def end(self, duration_s: float, usable: bool) -> None:
        """A run that lasts `duration_s` is through, or given up."""
        self._done += usable
        self._refused += not usable
        self._left_s -= duration_s
        self._through_s += duration_s

    def now(self) -> Progress:
        """What is known so far."""
        took = self._clock() - self._began
        left = took * self._left_s / self._through_s if self._through_s else None
        return Progress(self._done, self._total, self._repeated, self._refused, left)
