"""The bytes that a link could have sent by any time, computed from the plan alone."""

from __future__ import annotations

from itertools import groupby
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dumbbell.frozen import dataclass
from dumbbell.plan.network import History
from dumbbell.plan.types import AsBeforeVariation, Link, OpportunitiesVariation, StepsVariation, Variation

Times = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.float64]
_BYTE = 8e9
"""A byte in bits per second times nanoseconds."""


class Curve(Protocol):
    """Bytes that could have been sent since the origin, had the link always been this one; at each of some times."""

    def until(self, times: Times) -> Bytes:
        """Bytes until each time, with those at the time itself."""
        ...

    def before(self, times: Times) -> Bytes:
        """Bytes before each time, without those at the time itself."""
        ...


@dataclass(frozen=True)
class Wire:
    """A rate that is constant between steps."""

    times: Times
    bytes: Bytes
    """The bytes by each of `times`, the last of which is past the end."""

    def until(self, times: Times) -> Bytes:
        """The bytes grow evenly between steps."""
        return np.interp(times, self.times, self.bytes)

    before = until


@dataclass(frozen=True)
class Moments:
    """Opportunities, each for a number of bytes at once."""

    times: Times
    bytes: Bytes
    """Up to and including each of `times`."""

    def until(self, times: Times) -> Bytes:
        """The bytes with the opportunities at each time."""
        return self._first(np.searchsorted(self.times, times, "right"))

    def before(self, times: Times) -> Bytes:
        """The bytes without these."""
        return self._first(np.searchsorted(self.times, times, "left"))

    def _first(self, count: npt.NDArray[np.int64]) -> Bytes:
        return np.concatenate(([0.0], self.bytes))[count]


class Capacity:
    """Bytes that a link with a rate at all times could have sent since the origin; none while it is down."""

    def __init__(self, history: History, end_ns: int) -> None:
        """The capacity of a link with this history, for times up to `end_ns`."""
        rates = [(since, _rate(link)) for since, link in history]
        since = [next(group) for _, group in groupby(rates, key=lambda entry: entry[1])]
        until = [at for at, _ in since[1:]] + [end_ns]
        self._parts = [
            (at, end, _curve(*rate, end_ns)) for (at, rate), end in zip(since, until, strict=True) if at < end
        ]

    def until(self, times: Times) -> Bytes:
        """The bytes by each of `times`, those at the time itself included."""
        return self._sum("until", times)

    def before(self, times: Times) -> Bytes:
        """The bytes by each of `times`, those at the time itself excluded."""
        return self._sum("before", times)

    def _sum(self, side: str, times: Times) -> Bytes:
        total = np.zeros(len(times))
        for start, end, curve in self._parts:
            begun = curve.before(np.array([start]))[0]
            total += np.maximum(getattr(curve, side)(np.clip(times, start, end)) - begun, 0.0)
        return total


def _rate(link: Link) -> tuple[int, Variation | None]:
    assert link.rate_bps is not None, "a link with a rate at all times"
    return (link.rate_bps, link.variation) if link.up else (0, None)


def _curve(rate_bps: int, variation: Variation | None, end_ns: int) -> Curve:
    match variation:
        case None | AsBeforeVariation():  # Of no plan that was read.
            return _wire(np.array([0]), np.array([rate_bps]), end_ns)
        case StepsVariation(steps=steps, period_ns=period):
            times, rates = np.array(steps, dtype=np.int64).T
            return _wire(
                _repeated(times, period, end_ns), np.resize(rates, _rounds(period, end_ns) * len(rates)), end_ns
            )
        case OpportunitiesVariation(times=moments, bytes=size, period_ns=period):
            times, counts = np.array(moments, dtype=np.int64).T
            each = np.resize(counts, _rounds(period, end_ns) * len(counts)) * float(size)
            return Moments(_repeated(times, period, end_ns), np.cumsum(each))


def _wire(times: Times, rates: npt.NDArray[np.int64], end_ns: int) -> Wire:
    ends = np.append(times, max(end_ns, int(times[-1])) + 1)
    return Wire(ends, np.concatenate(([0.0], np.cumsum(np.diff(ends) * (rates / _BYTE)))))


def _rounds(period_ns: int | None, end_ns: int) -> int:
    return 1 if period_ns is None else end_ns // period_ns + 1


def _repeated(times: Times, period_ns: int | None, end_ns: int) -> Times:
    starts = np.arange(_rounds(period_ns, end_ns), dtype=np.int64) * (period_ns or 0)
    return (starts[:, None] + times).ravel()
