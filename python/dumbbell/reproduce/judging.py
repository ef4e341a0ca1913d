"""What findings have in common: how a comparison with intervals is judged, and how its numbers are told."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.reproduce.model import Judged, Status
from dumbbell.statistics.intervals import Interval

NOT_RUN = Judged(Status.UNKNOWN, "not run")


def told(found: Interval, factor: float = 1.0) -> str:
    """`9.3 [9.1, 9.5]`. Of several runs a ratio has no interval if one of them carried nothing."""
    value = _number(found.value / factor)
    if found.low is None or found.high is None:
        return f"{value} ({'one run' if found.n == 1 else 'no interval'})"
    return f"{value} [{_number(found.low / factor)}, {_number(found.high / factor)}]"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def above(found: Interval | None, bound: float) -> Status:
    """Whether all of the interval is: it holds, or none of it is, or it cannot be told."""
    return within(found, bound, float("inf"))


def below(found: Interval | None, bound: float) -> Status:
    """The same, of below."""
    return within(found, float("-inf"), bound)


def within(found: Interval | None, low: float, high: float) -> Status:
    """The same, of between. What was run once tells nothing."""
    if found is None or found.low is None or found.high is None:
        return Status.UNKNOWN
    if found.within(low, high):
        return Status.HOLDS
    return Status.FAILS if found.beyond(low, high) else Status.UNKNOWN


def any_of(found: Sequence[Status]) -> Status:
    """One that holds is enough; else one that cannot be told leaves it open."""
    if Status.HOLDS in found:
        return Status.HOLDS
    return Status.UNKNOWN if Status.UNKNOWN in found or not found else Status.FAILS


def all_of(found: Sequence[Status]) -> Status:
    """One that fails makes all fail; else one that cannot be told leaves it open."""
    if Status.FAILS in found:
        return Status.FAILS
    return Status.UNKNOWN if Status.UNKNOWN in found or not found else Status.HOLDS
