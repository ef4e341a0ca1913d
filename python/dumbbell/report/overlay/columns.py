"""Runs of a study over time, with a column for each value of a key."""

from __future__ import annotations

from dumbbell.report import overlay
from dumbbell.report.study.arrangement import find
from dumbbell.report.study.axes import Axis, axes
from dumbbell.statistics.frames import Frames


def drawn_cells(study: Frames, columns: str) -> tuple[Axis, list[int]]:
    """The key of the columns, and the cells that one figure holds: all, or of more those in which all other keys have
    their first values. Raises `InputError` for a key that the study does not vary."""
    varied = axes(study.cells, study.keys)
    asked = find(varied, columns, "columns")
    cells = list(range(study.cells.height))
    if len(cells) > overlay.MOST_RUNS:
        others = [axis for axis in varied if axis is not asked]
        cells = [cell for cell in cells if all(axis.cells[cell] == axis.cells[0] for axis in others)]
    return asked, cells
