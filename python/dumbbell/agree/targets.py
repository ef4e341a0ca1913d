"""The targets of agreement, and whether a comparison meets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dumbbell.agree.comparison import CONFIDENCE, Comparison, Row
from dumbbell.agree.figures import JAIN, RTT_P50, TOTAL_GOODPUT
from dumbbell.statistics.intervals import repetitions_needed

GOODPUT: Final = 0.03
"""The interval of the ratio of total goodput lies within 1 -+ this."""
RTT_SHARE: Final = 0.05
RTT_MS: Final = 1.0
"""The median RTT of each flow differs by no more than this share of it, or by this time if that is more."""
JAIN_INDEX: Final = 0.05
"""Jain's index differs by no more than this."""
CELLS: Final = 0.95
"""Required share of a matrix's cells within all targets."""

GOODPUT_BOUNDS: Final = (1 - GOODPUT, 1 + GOODPUT)


class Status(StrEnum):
    """The outcome of a target."""

    INSIDE = "inside"
    UNDECIDED = "undecided"
    """Too few repetitions: the interval crosses a bound."""
    OUTSIDE = "outside"


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
    """Inside if every target is met, outside if one is missed, else undecided; also undecided without any
    measurement."""
    found = {one.status for one in judged} or {Status.UNDECIDED}
    return next(status for status in (Status.OUTSIDE, Status.UNDECIDED, Status.INSIDE) if status in found)


def needed(comparison: Comparison) -> int | None:
    """Repetitions that the target for goodput takes, estimated from the measurements; `None` if no number suffices."""
    row = comparison.get(TOTAL_GOODPUT)
    return None if row is None else repetitions_needed(row.first, row.second, *GOODPUT_BOUNDS, CONFIDENCE)


def rtt_excess(row: Row) -> float:
    """The difference of a median RTT as a multiple of the allowed difference."""
    return abs(row.difference.value) / _rtt_allowed_ms(row)


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
    span = "one repetition" if found.low is None else f"{found.low:.4f} to {found.high:.4f}"
    status = Status.UNDECIDED
    if found.within(*GOODPUT_BOUNDS):
        status = Status.INSIDE
    elif found.beyond(*GOODPUT_BOUNDS):
        status = Status.OUTSIDE
    yield Judged(TOTAL_GOODPUT, status, f"{found.value:.4f} ({span})", allowed)


def _rtt(comparison: Comparison) -> Iterator[Judged]:
    for row in comparison.of(RTT_P50, "flow"):
        off, allowed = row.difference.value, _rtt_allowed_ms(row)
        status = Status.INSIDE if abs(off) <= allowed else Status.OUTSIDE
        measured = f"{off:+.2f} ms of {row.first_mean:.2f} ms"
        yield Judged(f"{RTT_P50} of {row.what.of}", status, measured, f"{allowed:.2f} ms")


def _jain(comparison: Comparison) -> Iterator[Judged]:
    row = comparison.get(JAIN)
    if row is None:
        return
    off = row.difference.value
    status = Status.INSIDE if abs(off) <= JAIN_INDEX else Status.OUTSIDE
    yield Judged(JAIN, status, f"{off:+.3f} ({row.first_mean:.3f} under {comparison.engines[0]})", f"{JAIN_INDEX:g}")


def _rtt_allowed_ms(row: Row) -> float:
    return max(RTT_MS, RTT_SHARE * row.first_mean)
