"""Plots over time side by side: a column for each value of a swept key, a row for each quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dumbbell.published.figures import Figures
from dumbbell.published.model import Plot
from dumbbell.published.recorded import spells, whole
from dumbbell.records.run import Run
from dumbbell.report.overlay.figure import figure
from dumbbell.report.states import STATES
from dumbbell.report.study.axes import axes

_PHASES: Final = {one.key: (one.word, one.light) for one in STATES}
_PALE: Final = 0.25
Phase = tuple[str, float, float]
"""State, start and end in seconds."""


def columns(plot: Plot, figures: Figures) -> Figure | None:
    """The first run of each cell. Runs the cells that have no run with all its records yet; `None` if there is none."""
    study = figures.study
    found = [(cell, run) for cell in figures.cells(plot.where) if (run := whole(study, cell)) is not None]
    if not found:
        return None
    cells, runs = zip(*found, strict=True)
    varied = axes(study.cells[list(cells)], study.keys)
    across = plot.key if any(axis.key == plot.key for axis in varied) else None
    phases = {index: _phases(run) for index, run in enumerate(runs)} if plot.phases else {}

    def behind(ax: Axes, row: int, members: Sequence[int]) -> Mapping[str, Any]:
        for value, label in plot.marks if row == 0 else ():
            ax.axhline(value, color="0.5", linewidth=0.9, dashes=(5, 2), label=label)
        signs = {}
        for state, start_s, stop_s in (one for index in members for one in phases.get(index, ())):
            name, colour = _PHASES[state]
            # A thin edge shows phases that are shorter than a dot of the picture.
            ax.axvspan(start_s, stop_s, facecolor=colour, edgecolor=colour, alpha=_PALE, linewidth=0.5, zorder=0)
            signs[name] = Patch(facecolor=colour, alpha=_PALE)
        return signs

    return figure(runs, plot.rows, None, False, varied, across, behind)


def _phases(run: Run) -> list[Phase]:
    """The phases of a run's only flow of BBR: those of PROBE_BW are one."""
    told = [(_phase(one.state), one.start_s, one.stop_s) for one in spells(run, run.plan.flows[0].id)]
    return [
        (state, some[0][1], some[-1][2]) for state, group in groupby(told, lambda one: one[0]) for some in [list(group)]
    ]


def _phase(state: str) -> str:
    return "probe_bw" if state.startswith("probe_bw") else state
