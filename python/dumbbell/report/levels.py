"""Reference levels of curves: drawn where they help, given as text where they would press the curves flat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from dumbbell.report import words
from dumbbell.report.facts import Facts, rate_bps
from dumbbell.report.model import Reference

_T = TypeVar("_T")
_FAR_ABOVE: Final = 4
"""A level this many times above the highest value takes too much room to leave the curves legible."""


def split(levels: Iterable[Reference], highest: float) -> tuple[tuple[Reference, ...], str]:
    """The levels to draw over values up to `highest`, and a sentence for each of the others."""
    near: list[Reference] = []
    said = ""
    for level in levels:
        if level.value <= _FAR_ABOVE * highest:
            near.append(level)
        else:
            said += f" Far above: {level.label}."
    return tuple(near), said


def capacities(known: Facts) -> list[Reference]:
    """The capacities in bit/s of the ways that have the same rate all the time: the least rate of each way's links.

    If more than three differ, only the smallest, one in the middle and the largest are returned.
    """
    names: dict[int, set[str]] = {}
    for way in known.ways:
        if way.is_constant:
            names.setdefault(rate_bps(way.narrowest), set()).add(way.narrowest.name)
    found = []
    for rate in few(sorted(names)):
        name = next(iter(names[rate])) if len(names) > 1 and len(names[rate]) == 1 else "capacity"
        found.append(Reference(float(rate), f"{name} {words.rate(rate)}"))
    return found


def few(ascending: Sequence[_T]) -> list[_T]:
    """The smallest, one in the middle, and the largest."""
    n = len(ascending)
    return [ascending[index] for index in sorted({0, n // 2, n - 1})] if n else []
