"""Statuses that follow from an interval, and intervals as text: what rules and code of studies share."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from dumbbell.published.model import Judged, Status
from dumbbell.report import words
from dumbbell.statistics.intervals import CONFIDENCE, Interval

NOT_RUN = Judged(Status.UNKNOWN, "not run")


def interval_text(interval: Interval, factor: float = 1.0) -> str:
    """An interval as text: `9.3 [9.1, 9.5]`. A ratio of several runs has no interval if one of them carried nothing."""
    value = words.number(interval.value / factor)
    if interval.low is None or interval.high is None:
        return f"{value} ({'one run' if interval.n == 1 else 'no interval'})"
    return f"{value} [{words.number(interval.low / factor)}, {words.number(interval.high / factor)}]"


def above(interval: Interval | None, bound: float) -> Status:
    """The status of "the interval lies above `bound`": holds if all of it does, fails if none of it does, else
    unknown."""
    return within(interval, bound, float("inf"))


def below(interval: Interval | None, bound: float) -> Status:
    """The status of "the interval lies below `bound`", judged as in `above`."""
    return within(interval, float("-inf"), bound)


def within(interval: Interval | None, low: float, high: float) -> Status:
    """The status of "the interval lies between the bounds", judged as in `above`. A single run is unknown."""
    if interval is None or interval.low is None or interval.high is None:
        return Status.UNKNOWN
    if interval.within(low, high):
        return Status.HOLDS
    return Status.FAILS if interval.beyond(low, high) else Status.UNKNOWN


def most(answers: Sequence[bool], confidence: float = CONFIDENCE) -> tuple[Status, str]:
    """The status of "most runs have a property", from whether each run has it: `in 10 of 10 runs (72 to 100 %)`.

    It follows from the interval of the share of runs that do. It takes four runs that agree.
    """
    share = of_share(sum(answers), len(answers), confidence)
    if share is None:
        return Status.UNKNOWN, "in no usable run"
    assert share.low is not None
    assert share.high is not None
    said = f"in {sum(answers)} of {words.count(len(answers), 'run')}"
    return above(share, 0.5), f"{said} ({100 * share.low:.0f} to {100 * share.high:.0f} %)"


def of_share(times: int, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """A share of `n` runs and its score interval, which is also right for few runs; `None` for no run.

    The formula, with z the normal quantile and p the share, is (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) /
    (1 + z^2 / n) (E. B. Wilson, J. Am. Stat. Assoc. 22:209, 1927).
    """
    if n == 0:
        return None
    share, z = times / n, NormalDist().inv_cdf((1 + confidence) / 2)
    whole = 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / whole
    half = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / whole
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half), n)


def any_of(statuses: Sequence[Status]) -> Status:
    """Holds if one holds; otherwise unknown if one is unknown."""
    if Status.HOLDS in statuses:
        return Status.HOLDS
    return Status.UNKNOWN if Status.UNKNOWN in statuses or not statuses else Status.FAILS


def all_of(statuses: Sequence[Status]) -> Status:
    """Fails if one fails; otherwise unknown if one is unknown."""
    if Status.FAILS in statuses:
        return Status.FAILS
    return Status.UNKNOWN if Status.UNKNOWN in statuses or not statuses else Status.HOLDS
