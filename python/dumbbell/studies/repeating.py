"""Finds cells whose figures are not precise enough yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, TypedDict

from dumbbell.scenario.study import Repeat
from dumbbell.statistics.enough import is_enough, relative_half_width, still_needed
from dumbbell.statistics.intervals import of_mean
from dumbbell.studies import measures

if TYPE_CHECKING:
    from dumbbell.studies.results import Study

Needed = Callable[[Sequence[float], float, float, int], int | None]
"""Takes a cell's values, half of the interval's width as a share of the mean, the confidence, and the least number of
runs. Returns how many more runs would suffice; `None` if that is unknown."""


def more(study: Study, repeat: Repeat, done: Sequence[int], needed: Needed = still_needed) -> dict[int, int]:
    """Cell -> number of runs that it should have; cells that have enough are left out.

    Args:
        study: what is known.
        repeat: what is asked for.
        done: the runs of each cell so far.
        needed: how many more. A cell gets twice as many as it has at most at a time, since its spread is an estimate.
    """
    if repeat.until is None:
        return {}
    values = _values(study, repeat)
    wanted = {}
    for cell, count in enumerate(done):
        if cell in study.copies:  # More of the same would tell nothing.
            continue
        short = needed(values.get(cell, []), repeat.until.probability, repeat.confidence, repeat.least)
        if short != 0 and count < repeat.most:
            wanted[cell] = min(count + min(count if short is None else short, count), repeat.most)
    return wanted


class Wide(TypedDict):
    """A cell whose interval is wider than asked for, as in `study.json`."""

    cell: int
    n: int
    """Number of its values."""
    half_width: float | None
    """Half of the interval's width as a share of the mean; `None` of fewer than two values, or of a mean of 0."""


def too_wide(study: Study, repeat: Repeat) -> list[Wide]:
    """The cells whose interval is wider than asked for, the widest first, as in `study.json`.

    `cell`; `n`, how many values it has; `half_width`, half of the interval's width as a share of the mean, `None` where
    there is none: of fewer than two values, or of a mean of 0.
    """
    if repeat.until is None:
        return []
    values = _values(study, repeat)
    found: list[Wide] = []
    for cell in range(len(study.manifest["cells"])):
        mine = values.get(cell, [])
        if not is_enough(mine, repeat.until.probability, repeat.confidence, repeat.least):
            width = relative_half_width(of_mean(mine, repeat.confidence)) if mine else None
            found.append({"cell": cell, "n": len(mine), "half_width": width})
    return sorted(found, key=lambda one: -(inf if one["half_width"] is None else one["half_width"]))


def _values(study: Study, repeat: Repeat) -> dict[int, list[float]]:
    """Cell -> the values of its runs."""
    values: dict[int, list[float]] = {}
    for cell, value in measures.by_run(study, repeat.of).select("cell", "value").iter_rows():
        values.setdefault(cell, []).append(value)
    return values
