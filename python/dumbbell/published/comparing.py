"""Compares two averages: which is larger, as far as their intervals show."""

from __future__ import annotations

from typing import Literal

from dumbbell.published.judging import interval_text
from dumbbell.published.model import Status
from dumbbell.statistics.intervals import Interval


def compared(interval: Interval | None, sign: Literal["<", ">"], other: Interval | None) -> Status:
    """The status of "`interval` is smaller, or larger, than `other`": known where the intervals do not overlap.

    This is stricter than a test of the difference: intervals may overlap though the difference is certain.
    """
    if interval is None or other is None or None in (interval.low, interval.high, other.low, other.high):
        return Status.UNKNOWN
    if interval.beyond(other.low or 0.0, other.high or 0.0):
        return Status.HOLDS if (interval.value < other.value) == (sign == "<") else Status.FAILS
    return Status.UNKNOWN


def listed(intervals: dict[str, Interval | None], factor: float, unit: str) -> str:
    """`bbr 9.3 [9.1, 9.5], cubic 4.1 [3.9, 4.3] Mbit/s, n = 5`; missing values are left out."""
    known = {name: one for name, one in intervals.items() if one is not None}
    if not known:
        return "no usable run"
    n = min(one.n for one in known.values())
    said = ", ".join(f"{name} {interval_text(one, factor)}".strip() for name, one in known.items())
    return f"{said} {unit}".rstrip() + f", n = {n}"
