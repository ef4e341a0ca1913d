"""Compares two averages: which is larger, as far as their intervals show."""

from __future__ import annotations

from typing import Literal

from dumbbell.published.judging import told
from dumbbell.published.model import Status
from dumbbell.statistics.intervals import Interval


def compared(one: Interval | None, sign: Literal["<", ">"], other: Interval | None) -> Status:
    """The status of "`one` is smaller, or larger, than `other`": it holds or fails where the intervals do not overlap.

    This is stricter than a test of the difference: intervals may overlap though the difference is certain.
    """
    if one is None or other is None or None in (one.low, one.high, other.low, other.high):
        return Status.UNKNOWN
    if one.beyond(other.low or 0.0, other.high or 0.0):
        return Status.HOLDS if (one.value < other.value) == (sign == "<") else Status.FAILS
    return Status.UNKNOWN


def listed(found: dict[str, Interval | None], factor: float, unit: str) -> str:
    """`bbr 9.3 [9.1, 9.5], cubic 4.1 [3.9, 4.3] Mbit/s, n = 5`; missing values are left out."""
    known = {name: one for name, one in found.items() if one is not None}
    if not known:
        return "no usable run"
    n = min(one.n for one in known.values())
    said = ", ".join(f"{name} {told(one, factor)}".strip() for name, one in known.items())
    return f"{said} {unit}".rstrip() + f", n = {n}"
