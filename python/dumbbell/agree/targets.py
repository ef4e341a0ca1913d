"""The targets of agreement, and whether a comparison meets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from dumbbell.agree.comparison import CONFIDENCE, Comparison, Row
from dumbbell.agree.figures import JAIN, RTT_P50, TOTAL_GOODPUT
from dumbbell.frozen import dataclass
from dumbbell.statistics.intervals import Interval, differences_needed, paired_difference, repetitions_needed

GOODPUT: Final = 0.03
"""The interval of the ratio of total goodput lies within 1 -+ this."""
RTT_SHARE: Final = 0.05
RTT_MS: Final = 1.0
"""The interval of the difference of each flow's median RTT lies within -+ this share of it, or -+ this time if that is
more."""
JAIN_INDEX: Final = 0.05
"""The interval of the difference of Jain's index lies within -+ this."""

GOODPUT_BOUNDS: Final = (1 - GOODPUT, 1 + GOODPUT)


class Status(StrEnum):
    """The outcome of a target."""

    INSIDE = "inside"
    """The interval lies within the bounds."""
    UNDECIDED = "undecided"
    """Too few repetitions: the interval crosses a bound."""
    OUTSIDE = "outside"
    """The interval lies beyond them."""


@dataclass(frozen=True)
class Judged:
    """One target."""

    target: str
    status: Status
    measured: str
    allowed: str


def judge(comparison: Comparison) -> tuple[Judged, ...]:
    """Every target that applies: without a second bulk flow there is no Jain's index."""
    return tuple([*_goodput(comparison), *_rtt(comparison), *_jain(comparison)])


def overall(judged: Sequence[Judged]) -> Status:
    """Inside if every target is, outside if one is, else undecided; also undecided without any measurement."""
    found = {one.status for one in judged} or {Status.UNDECIDED}
    return next(status for status in (Status.OUTSIDE, Status.UNDECIDED, Status.INSIDE) if status in found)


def needed(comparison: Comparison) -> int | None:
    """Repetitions after which every target would be inside, estimated from the measurements; `None` if no number
    suffices, or there is too little to tell."""
    goodput, jain = comparison.get(TOTAL_GOODPUT), comparison.get(JAIN)
    each = [differences_needed(row.first, row.second, _rtt_allowed_ms(row), CONFIDENCE) for row in _rtts(comparison)]
    if goodput is not None:
        each.append(repetitions_needed(goodput.first, goodput.second, *GOODPUT_BOUNDS, CONFIDENCE))
    if jain is not None:
        each.append(differences_needed(jain.first, jain.second, JAIN_INDEX, CONFIDENCE))
    known = [one for one in each if one is not None]
    return max(known, default=None) if len(known) == len(each) else None


def rtt_excess(row: Row) -> float:
    """The end of the interval of a median RTT's difference that is further off, as a multiple of what is allowed."""
    found = row.difference
    ends = (found.value, found.low or 0, found.high or 0)
    return max(map(abs, ends)) / _rtt_allowed_ms(row)


def _goodput(comparison: Comparison) -> Iterator[Judged]:
    row = comparison.get(TOTAL_GOODPUT)
    if row is None:
        return
    allowed = f"the interval within {GOODPUT_BOUNDS[0]:g} to {GOODPUT_BOUNDS[1]:g}"
    found = row.ratio
    if found is None:
        # If no data arrived under one engine, the engines agree only if none arrived under the other.
        same = max(row.first) == max(row.second) == 0
        yield Judged(TOTAL_GOODPUT, Status.INSIDE if same else Status.OUTSIDE, "no ratio: a run had none", allowed)
        return
    status = _status(found, found, *GOODPUT_BOUNDS)
    yield Judged(TOTAL_GOODPUT, status, f"{found.value:.4f} ({_span(found, '.4f')})", allowed)


def _rtt(comparison: Comparison) -> Iterator[Judged]:
    """All flows must be inside, and each is asked at the level of 5 %: so is the whole (intersection-union test; R. L.
    Berger, Technometrics 24:295, 1982). One flow outside is enough, and the worst of thirty is off by chance more often
    than one. So the interval that must lie beyond the bounds is wider, by Bonferroni's inequality.
    """
    rows = _rtts(comparison)
    for row in rows:
        wider = paired_difference(row.first, row.second, 1 - (1 - CONFIDENCE) / len(rows))
        yield _difference(f"{RTT_P50} of {row.what.of}", row, wider, _rtt_allowed_ms(row), ".2f", " ms")


def _jain(comparison: Comparison) -> Iterator[Judged]:
    row = comparison.get(JAIN)
    if row is not None:
        yield _difference(JAIN, row, row.difference, JAIN_INDEX, ".3f", "")


def _difference(target: str, row: Row, wider: Interval, allowed: float, digits: str, unit: str) -> Judged:
    """Whether a difference lies within -+ `allowed`."""
    found = row.difference
    measured = f"{found.value:+{digits}} ({_span(found, '+' + digits)}){unit} of {row.first_mean:{digits}}{unit}"
    status = _status(found, wider, -allowed, allowed)
    return Judged(target, status, measured, f"the interval within -+{allowed:.3g}{unit}")


def _status(interval: Interval, wider: Interval, low: float, high: float) -> Status:
    """Inside by one interval, outside by one that is as wide or wider."""
    if interval.within(low, high):
        return Status.INSIDE
    return Status.OUTSIDE if wider.beyond(low, high) else Status.UNDECIDED


def _span(interval: Interval, digits: str) -> str:
    return "one repetition" if interval.low is None else f"{interval.low:{digits}} to {interval.high:{digits}}"


def _rtts(comparison: Comparison) -> list[Row]:
    return comparison.of(RTT_P50, "flow")


def _rtt_allowed_ms(row: Row) -> float:
    return max(RTT_MS, RTT_SHARE * row.first_mean)
