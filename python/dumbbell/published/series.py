"""Plots over time, with one run and all its records for each curve."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import nan
from typing import Final

import polars as pl

from dumbbell.published.drawing import Series
from dumbbell.published.figures import Figures
from dumbbell.published.model import Plot
from dumbbell.published.recorded import whole
from dumbbell.report.model import Line, Panel
from dumbbell.report.series import build
from dumbbell.studies.results import Study
from dumbbell.units.mtu import MTU, segment_bytes

_PANELS: Final = {
    "sending rate": ("sending_rate_bps", 1.0),
    "goodput": ("goodput_bps", 1.0),
    "cwnd": ("cwnd", 1.0),
    "rtt": ("srtt_ms", 1e-3),
    "inflight": ("bytes_in_flight", 1 / segment_bytes(MTU)),
    "queue": ("queue_bytes", 1.0),
}
"""Signal -> beginning of its panel's key in a run's report, and the factor from the key's unit to a base unit."""


def series(plot: Plot, figures: Figures) -> list[Series]:
    """A curve for each cell and each of the flows. Runs the cells that have no run with all its records yet."""
    cells = figures.cells(plot.where)
    return list(chain.from_iterable(_of_cell(plot, figures.study, cell, len(cells) > 1) for cell in cells))


def _of_cell(plot: Plot, study: Study, cell: int, many: bool) -> Iterator[Series]:
    run = whole(study, cell)
    if run is None:
        return
    found = build(run)
    key, factor = _PANELS[plot.metric]
    panel = next((one for one in found.panels if one.key.startswith(key)), None)
    if panel is None:
        return
    name = str(study.manifest["cells"][cell].get(plot.curves, "")) if plot.curves else ""
    scale = panel.per_unit * factor / plot.y.factor
    for times, line in _lines(panel):
        group = "" if line.group is None else found.groups[line.group].label
        algorithm = group.rsplit(" ", 1)[-1]
        asked = next((of for of in plot.of if of in (line.flow, group, algorithm)), None)
        if plot.of and line.group is not None and asked is None:
            continue
        thing = "" if len(plot.of) == 1 else asked or algorithm
        # The cell's name already has a swept algorithm.
        label = ", ".join(dict.fromkeys(filter(None, [name if many else "", thing])))
        yield label or group, times, (line.values.cast(pl.Float64) * scale).fill_null(nan).to_list()


def _lines(panel: Panel) -> Iterator[tuple[list[float], Line]]:
    """The curves of flows; for queues, those of the first link."""
    for view in panel.views[:1]:
        for line in view.lines:
            if isinstance(line, Line) and line.quantity == 0 and not line.is_level:
                yield (view.time_s if line.time_s is None else line.time_s).to_list(), line
