"""The load of the whole machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

EVERY_S = 0.1


@dataclass
class Busy:
    """CPU time of the whole machine over time."""

    samples: list[tuple[int, float]] = field(default_factory=list)
    """CLOCK_REALTIME in ns, and seconds so far in which some CPU did something."""

    def cores(self, begin_ns: int, end_ns: int) -> float:
        """The average number of busy cores between two times."""
        within = [sample for sample in self.samples if begin_ns <= sample[0] <= end_ns]
        (begin, before), (end, after) = within[0], within[-1]
        return (after - before) / ((end - begin) / 1e9)


@contextmanager
def watching() -> Iterator[Busy]:
    """Watch the machine meanwhile."""
    busy, over = Busy(), threading.Event()

    def watch() -> None:
        while not over.wait(EVERY_S):
            busy.samples.append((time.time_ns(), _busy_s()))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield busy
    finally:
        over.set()
        thread.join()


def _busy_s() -> float:
    """user, nice, system, irq and softirq of `/proc/stat` (proc_stat(5))."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(ticks[i] for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")
