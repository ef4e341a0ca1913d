"""A comparison as rows of text, the same on the console and on the page."""

from __future__ import annotations

from typing import Final

from dumbbell.agree.comparison import Comparison
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval

_BESIDE: Final = ("difference", "90 % interval", "ratio", "90 % interval")


def columns(comparison: Comparison) -> list[str]:
    """The columns of `quantities`."""
    return ["of", "quantity", *comparison.engines, *_BESIDE]


def quantities(comparison: Comparison) -> list[list[str]]:
    """A row for each quantity: means of both engines, difference and ratio with their intervals."""
    return [
        [
            row.what.of or "run",
            f"{row.what.measure} ({row.what.unit})" if row.what.unit else row.what.measure,
            _number(row.first_mean),
            _number(row.second_mean),
            _number(row.difference.value),
            _span(row.difference),
            words.UNKNOWN if row.ratio is None else f"{row.ratio.value:.4f}",
            _span(row.ratio),
        ]
        for row in comparison.rows
    ]


def _number(value: float) -> str:
    """Four digits, and no exponent for what counts packets."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _span(interval: Interval | None) -> str:
    """`0.991 to 1.004`."""
    if interval is None or interval.low is None or interval.high is None:
        return words.UNKNOWN
    return f"{_number(interval.low)} to {_number(interval.high)}"
