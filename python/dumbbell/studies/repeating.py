"""Cells whose figures are not known well enough yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dumbbell.scenario.study import Repeat
from dumbbell.statistics.enough import still_needed
from dumbbell.studies import measures

if TYPE_CHECKING:
    from dumbbell.studies.results import Study

Needed = Callable[[Sequence[float], float, float, int], int | None]
"""From a cell's values, half of the interval's width as a share of the mean, the confidence, and the runs at least: how
many more would do; `None` where that can't be told."""


def more(study: Study, repeat: Repeat, done: Sequence[int], needed: Needed = still_needed) -> dict[int, int]:
    """By cell, how many runs it shall have; cells that have enough are left out.

    Args:
        study: what is known.
        repeat: what is asked for.
        done: the runs of each cell so far.
        needed: how many more. A cell gets twice as many as it has at most at a time, since its spread is an estimate.
    """
    if repeat.until is None:
        return {}
    values: dict[int, list[float]] = {}
    for cell, _, value in measures.by_run(study, repeat.of).select("cell", "run", "value").iter_rows():
        values.setdefault(cell, []).append(value)
    wanted = {}
    for cell, count in enumerate(done):
        short = needed(values.get(cell, []), repeat.until.probability, repeat.confidence, repeat.least)
        if short != 0 and count < repeat.most:
            wanted[cell] = min(count + min(count if short is None else short, count), repeat.most)
    return wanted
