"""The capacity of a serializer: its rate over time, and the integral of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

BYTE = 8 * 10**9
"""A byte's work, in bit/s times ns: the unit in which everything is an integer."""


class Work:
    """The integral of a rate that is constant between steps.

    It is an integer at every whole nanosecond. A busy period is a stretch of it, and a packet a piece of that stretch;
    no remainder needs to be carried, as nothing is rounded but the answer to "when".
    """

    def __init__(self, steps: Iterable[tuple[int, int]]) -> None:
        """`steps`: from when (ns), and the rate (bit/s) from then on, in the order of time; the first at 0."""
        self._times: list[int] = []
        self._rates: list[int] = []
        self._done: list[int] = []
        for at, rate in steps:
            if self._times and self._times[-1] == at:
                self._rates[-1] = rate
                continue
            self._done.append(self._done[-1] + self._rates[-1] * (at - self._times[-1]) if self._times else 0)
            self._times.append(at)
            self._rates.append(rate)

    def at(self, time: int) -> int:
        """The work that could have been done by then."""
        i = max(0, bisect_right(self._times, time) - 1)
        return self._done[i] + self._rates[i] * (time - self._times[i])

    def when(self, work: int) -> int | None:
        """When so much is done, rounded down; `None`: never."""
        # The last step at whose begin less was done: if nothing is done for a while, the earliest such time.
        i = max(0, bisect_left(self._done, work) - 1)
        if self._rates[i] == 0:
            return None
        return self._times[i] + (work - self._done[i]) // self._rates[i]


def steps_of(versions: list[tuple[int, dict[str, Any]]], end: int) -> Iterator[tuple[int, int]]:
    """The rate's steps until `end` and for some time after, of a link that events change."""
    end += 10**10
    for (begin, link), (until, _) in zip(versions, [*versions[1:], (end, {})], strict=True):
        variation = link["variation"]
        if variation is None:
            yield begin, link["rate_bps"]
            continue
        steps, period = variation["steps"], variation["period_ns"]
        # A variation counts from the run's origin, whenever an event brings it.
        current = None
        for at, rate in _repeated(steps, period, until):
            if at <= begin:
                current = rate
                continue
            if current is not None:
                yield begin, current
                current = None
            yield at, rate
        if current is not None:
            yield begin, current


def _repeated(steps: list[tuple[int, int]], period: int | None, until: int) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        for at, rate in steps:
            if start + at >= until:
                return
            yield start + at, rate
        if period is None:
            return
        start += period


def opportunities(variation: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """When how many bytes may leave, for ever."""
    start = 0
    while True:
        for at, times in variation["times"]:
            yield start + at, times * variation["bytes"]
        start += variation["period_ns"]
