"""Figures for a paper, a column (3.4 inches) or a page (7 inches) wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from math import ceil
from typing import Any, Final

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dumbbell.report.render.figures import render
from dumbbell.report.render.sheet import Sheet, are_apart
from dumbbell.report.study import drawing
from dumbbell.report.study.arrangement import EVERY, MOST_CURVES
from dumbbell.report.study.curves import curves
from dumbbell.report.study.effects_figure import effects_figure
from dumbbell.report.study.export import counted, doubt, entries_of, how, timing
from dumbbell.report.study.grid import Grid, grids
from dumbbell.report.study.kinds import MOST_PLOTS, ROWS_APART, kind_of, matrices, name_of, shown
from dumbbell.report.study.matrices import Matrix
from dumbbell.report.study.model import Distribution, Entry, Layout, Panel, StudyPlots
from dumbbell.scenario.study import PlotKind

_COLUMN_IN: Final = 3.4
_PAGE_IN: Final = 7.0
_HEIGHT_IN: Final = 1.65
_ABREAST: Final = 3
_MOST_CELLS: Final = 6
_MOST_WITH_INTERVALS: Final = 8
"""Columns of a matrix that shows intervals, too."""
_AROUND_IN: Final = 0.75
"""Room that the texts around a plot take."""


def figures(plots: StudyPlots, format: str) -> dict[str, bytes]:
    """File name -> content: a figure for each metric, and for each distribution of single flows."""
    found = {name_of(plots, panel): figure(plots, panel) for panel in shown(plots)}
    if plots.described.metric == EVERY:
        found |= {f"cdf_{one.key}": cdf(plots, one) for one in plots.distributions}
    return {f"{name}.{format}": render(fig, format) for name, fig in found.items()}


def drawn(plots: StudyPlots, panel: Panel, format: str) -> bytes:
    """The figure of one metric in a format."""
    return render(figure(plots, panel), format)


def figure(plots: StudyPlots, panel: Panel) -> Figure:
    """One metric, as the kind of plot that suits the study, or that the description names."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        kind, found = kind_of(plots, panel), matrices(plots, panel)
        if kind == "effects":
            return effects_figure(plots, panel)
        if found is not None:
            return _matrices(plots, panel, found)
        alone = kind == "cdf" or (kind == "lines" and plots.layout.x is None)
        drawn = list(grids(plots, panel, plots.layout.alone if alone else plots.layout))
        if kind == "bars" and plots.described.across is None and any(map(_are_rows_apart, drawn)):
            drawn = list(grids(plots, panel, plots.layout.alone))
        kinds: dict[str, Callable[[Sheet, Axes, Grid], None]]
        kinds = {"lines": drawing.lines, "bars": drawing.bars, "boxes": drawing.boxes, "cdf": drawing.cdf}
        return _grids(plots, panel, drawn, kinds[kind], kind)


def _grids(
    plots: StudyPlots, panel: Panel, grids: Sequence[Grid], draw: Callable[[Sheet, Axes, Grid], None], kind: PlotKind
) -> Figure:
    drawn = [grids[i] for i in spread(len(grids), MOST_PLOTS)]
    sheet = _sheet(len(drawn), max(map(_room, drawn)) if kind in ("bars", "boxes") else 1.2, _HEIGHT_IN)
    for grid, ax in zip(drawn, sheet.axes, strict=True):
        draw(sheet, ax, grid)
        ax.set_title(grid.title, loc="left")
    named = _title(panel)
    if kind == "cdf":
        low, high = (end([ax.get_xlim()[side] for ax in sheet.axes]) for side, end in ((0, min), (1, max)))
        for ax in sheet.axes:
            ax.set_xlabel(named)
            ax.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
            sheet.numbers(ax, *_rounded(ax))
        is_free = _scale(sheet, "share of runs", [(0.0, 1.03)] * len(drawn))
    else:
        has_negative = bool((panel.points["mean"] < 0).any())
        lows = [ax.get_ylim()[0] if has_negative or kind == "boxes" else 0.0 for ax in sheet.axes]
        ends = [
            (low if has_negative else max(low, 0.0), _top(ax, panel)) for low, ax in zip(lows, sheet.axes, strict=True)
        ]
        sizes = [max(abs(entry.mean) for entry in entries_of(grid)) for grid in drawn]
        is_free = _scale(sheet, named, ends, sizes)
    handles = _handles(sheet.axes)
    texts = {text for grid in drawn for text in drawing.ticks(grid)}
    if kind in ("bars", "boxes") and set(handles) <= texts:
        handles = {}
    known = [entry for grid in drawn for entry in entries_of(grid)]
    is_mean = kind in ("lines", "bars")
    axis = "each plot has its own vertical axis" if is_free else ""
    return sheet.arrange(lambda: handles, _note(plots, len(drawn), len(grids), _runs(plots, known, is_mean), axis))


def _are_rows_apart(grid: Grid) -> bool:
    """True if bars at one value of the horizontal key would be flat lines beside those at another one."""
    if len(grid.rows) < 2 or len(grid.columns) < 2:
        return False
    found = ((abs(entry.mean) for column in grid.columns if (entry := grid.entry(row, column))) for row in grid.rows)
    return are_apart((max(sizes, default=0.0) for sizes in found), ROWS_APART)


def _runs(plots: StudyPlots, known: Sequence[Entry], is_mean: bool = True) -> str:
    """The number of runs of entries, and the kind of their intervals, if means are drawn."""
    interval = how(plots) if is_mean and any(entry.low is not None for entry in known) else ""
    return ", ".join(filter(None, [interval, counted(known)]))


def _top(ax: Axes, panel: Panel) -> float:
    """The upper end of a vertical axis: a share is not drawn beyond 100 %."""
    high = ax.get_ylim()[1]
    # Room for the signs of points, where values are alike and far from 0.
    high += 0.03 * abs(high)
    most = panel.metric.bounds[1]
    return high if most is None else min(high, max(1.03 * most / panel.factor, 0.0))


def _scale(sheet: Sheet, title: str, ends: Sequence[tuple[float, float]], sizes: Sequence[float] = ()) -> bool:
    """One vertical axis for all plots, with numbers beside the first of each row. Returns true if each has its own: if
    their largest values (`sizes`) differ more than tenfold, small ones would be flat lines. `ends`: own axes."""
    is_free = are_apart(sizes)
    both = min(low for low, _ in ends), max(high for _, high in ends)
    for index, (ax, own) in enumerate(zip(sheet.axes, ends, strict=True)):
        ax.set_ylim(*(own if is_free and sizes[index] > 0 else both))
        ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        if index % sheet.columns == 0:
            ax.set_ylabel(title)
        else:
            ax.tick_params(labelleft=is_free)
    return is_free


def _rounded(ax: Axes) -> tuple[list[float], list[str]]:
    """Round numbers for ticks of the horizontal axis."""
    low, high = ax.get_xlim()
    at = [float(value) for value in MaxNLocator(5).tick_values(low, high) if low <= value <= high]
    return at, [f"{value:,.10g}" for value in at]


def _matrices(plots: StudyPlots, panel: Panel, matrices: Sequence[Matrix]) -> Figure:
    drawn = [matrices[i] for i in spread(len(matrices), MOST_PLOTS)]
    entries = [entry for one in drawn for entry in one.entries.values()]
    low, high = min(entry.mean for entry in entries), max(entry.mean for entry in entries)
    columns, rows = max(len(one.columns) for one in drawn), max(len(one.rows) for one in drawn)
    values, largest = [entry.mean / panel.factor for entry in entries], max(abs(low), abs(high)) / panel.factor
    longest = max(len(f"{value:,.{drawing.decimals_among(value, largest)}f}") for value in values)
    tall = rows * (0.34 if columns <= _MOST_WITH_INTERVALS else 0.17)
    sheet = _sheet(len(drawn), columns * max(0.24, 0.08 * longest), max(tall, 0.5))
    numbers = []
    for index, (one, ax) in enumerate(zip(drawn, sheet.axes, strict=True)):
        numbers.append(drawing.matrix(sheet, ax, one, low, high))
        ax.set_title(one.title, loc="left")
        if index % sheet.columns == 0:
            ax.set_ylabel(one.row_title)

    def colours() -> dict[str, Any]:
        return {} if all(numbers) else drawing.shades(low, high, panel.factor)

    return sheet.arrange(colours, _note(plots, len(drawn), len(matrices), _runs(plots, entries)), _title(panel))


def cdf(plots: StudyPlots, distribution: Distribution) -> Figure:
    """The distribution over single flows in all runs of a cell: values of the second key are curves, and those of all
    others have a plot each, or six of them, evenly spread."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as paper, matplotlib.style.context(paper):
        layout = plots.layout.alone
        found = _placed(plots, distribution, layout)
        different = {(of, line) for placed in found.values() for _, of, line in placed}
        if layout.lines is not None and len(different) > MOST_CURVES:
            layout = Layout(None, None, (layout.lines, *layout.others))
            found = _placed(plots, distribution, layout)
        looks = curves(plots, layout.lines)
        places = sorted(found)
        chosen = [places[i] for i in spread(len(places), _MOST_CELLS)]
        ends = [max(distribution.values[cell, of][-1] for cell, of, _ in found[at]) for at in chosen]
        is_free = are_apart(ends)
        sheet = _sheet(len(chosen), 1.2, _HEIGHT_IN)
        for at, end, ax in zip(chosen, ends, sheet.axes, strict=True):
            for cell, of, line in sorted(found[at], key=lambda one: (plots.of.index(one[1]), one[2])):
                x = distribution.values[cell, of].to_numpy() / distribution.factor
                count = distribution.counts[cell, of]
                label = looks[of][line].label
                label += f", {distribution.label(cell, of)}" if len(x) < count else ""
                y = np.arange(len(x) + 1) / count
                ax.step([x[0], *x], y, where="post", label=label, **drawing.style(looks[of][line].colour))
            words = (axis.word(index) for axis, index in zip(layout.others, at, strict=True))
            ax.set_title(", ".join(words), loc="left")
            ax.set_xlabel(f"{distribution.title} ({distribution.unit})")
            ax.set_xlim(0, 1.02 * ((end if is_free else max(ends)) / distribution.factor or 1.0))
            sheet.numbers(ax, *_rounded(ax))
        _scale(sheet, "share of flows", [(0.0, 1.03)] * len(chosen))
        axis = "each plot has its own horizontal axis" if is_free else ""
        return sheet.arrange(lambda: _handles(sheet.axes), _note(plots, len(chosen), len(places), axis))


def _placed(
    plots: StudyPlots, distribution: Distribution, layout: Layout
) -> dict[tuple[int, ...], list[tuple[int, str, int]]]:
    """Values of the keys that have a plot each -> cell, scope, and value of the second key of each curve."""
    found: dict[tuple[int, ...], list[tuple[int, str, int]]] = {}
    for cell in plots.places.values():
        for of in plots.of:
            if (cell, of) in distribution.values:
                at = tuple(axis.cells[cell] for axis in layout.others)
                found.setdefault(at, []).append((cell, of, layout.lines.cells[cell] if layout.lines else 0))
    return found


def _note(plots: StudyPlots, drawn: int, of: int, *lines: str) -> str:
    parts = [timing(plots), *lines, f"{drawn} of {of} plots" if drawn < of else "", doubt(plots).removeprefix(", ")]
    return "; ".join(filter(None, parts))


def _title(panel: Panel) -> str:
    title = panel.metric.title
    return f"{title} ({panel.unit})" if panel.unit and panel.unit not in title.lower() else title


def _room(grid: Grid) -> float:
    """The least width of bars that can be told apart, and of their names when turned."""
    count = len(drawing.ticks(grid))
    return max(count * drawing.most_abreast(grid) * 0.05, count * 0.14, 1.2)


def _sheet(count: int, room: float, height: float) -> Sheet:
    """A sheet for plots that need `room` for their widths."""
    if count == 1:
        return Sheet(_COLUMN_IN if room <= _COLUMN_IN - _AROUND_IN else _PAGE_IN, 1, [height], 1)
    # Four stand two by two: none is alone in its row.
    abreast = next(
        (n for n in ((2,) if count == 4 else (_ABREAST, 2)) if n <= count and room <= _PAGE_IN / n - _AROUND_IN), 1
    )
    return Sheet(_PAGE_IN if abreast > 1 or room > _COLUMN_IN - _AROUND_IN else _COLUMN_IN, abreast,
                 [height] * ceil(count / abreast), count)  # fmt: skip


def _handles(axes: Sequence[Axes]) -> dict[str, Any]:
    return {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}


def spread(count: int, most: int) -> list[int]:
    """Indices, evenly spread, first and last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index) for index in np.linspace(0, count - 1, most)})
