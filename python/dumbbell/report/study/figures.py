"""Figures for a paper: one per metric, 3.4 inches (a column) wide for each plot, and at most three side by side."""

from __future__ import annotations

from importlib.resources import as_file, files
from math import ceil
from typing import Any, Final

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dumbbell.report.render.figures import render
from dumbbell.report.render.notebook import Picture
from dumbbell.report.study.colours import NEUTRAL, Colour, of_names
from dumbbell.report.study.export import doubt, stem
from dumbbell.report.study.grid import Grid, grids
from dumbbell.report.study.model import Distribution, Entry, Panel, StudyPlots

_COLUMN_IN: Final = 3.4
_HEIGHT_IN: Final = 2.3
_ABREAST: Final = 3
_MOST_TICKS: Final = 8
_LINES: Final = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 1.5, 1, 1.5)))
_MARKERS: Final = "osD^vP"


def figures(plots: StudyPlots, format: str) -> dict[str, bytes]:
    """File name -> content."""
    drawn = {stem(panel): figure(plots, panel) for panel in plots.panels}
    drawn |= {f"cdf_{one.key}": cdf(plots, one) for one in plots.distributions}
    return {f"{name}.{format}": render(fig, format) for name, fig in drawn.items()}


def figure(plots: StudyPlots, panel: Panel) -> Figure:
    """Curves with bands where the horizontal axis has numbers, grouped bars where it has categories."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        drawn = list(grids(plots, panel))
        fig, axes = _axes(len(drawn))
        for grid, ax in zip(drawn, axes, strict=True):
            numbers = grid.x is not None and grid.x.kind != "category"
            (_curves if numbers else _bars)(ax, grid)
            ax.set_title(grid.title)
            low, high = ax.get_ylim()
            ax.set_ylim(low if low < 0 and _has_negative(grid) else 0.0, high)
        axes[0].set_ylabel(f"{panel.metric.title} ({panel.unit})" if panel.unit else panel.metric.title)
        _legend(fig, axes)
        _note(fig, doubt(plots).removeprefix(", "))
        return fig


def cdf(plots: StudyPlots, distribution: Distribution) -> Figure:
    """The distribution over single flows in all runs of a cell: a plot for each cell, or for six cells, evenly
    spread."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as paper, matplotlib.style.context(paper):
        shown = _spread(plots.cells, 6)
        largest = max(found[-1] for found in distribution.values.values()) / distribution.factor
        fig, axes = _axes(len(shown))
        for cell, ax in zip(shown, axes, strict=True):
            colours = of_names(plots.of) if len(plots.of) > 1 else [None]
            for name, colour in zip(plots.of, colours, strict=True):
                found = distribution.values.get((cell, name))
                if found is not None:
                    style = _style(colour)
                    x = found.to_numpy() / distribution.factor
                    y = np.arange(len(x) + 1) / distribution.counts[cell, name]
                    ax.step([x[0], *x], y, where="post", label=f"{name}, {distribution.label(cell, name)}", **style)
            ax.set_title(", ".join(f"{axis.label} {axis.texts[axis.cells[cell]]}" for axis in plots.axes))
            ax.set_xlabel(f"{distribution.title} ({distribution.unit})")
            ax.set_xlim(0, 1.02 * largest)
            ax.set_ylim(0, 1.03)
            ax.legend()
        axes[0].set_ylabel("share of flows")
        if len(shown) < plots.cells:
            _note(fig, f"{len(shown)} of {plots.cells} cells{doubt(plots)}")
        else:
            _note(fig, doubt(plots).removeprefix(", "))
        return fig


def _note(fig: Figure, text: str) -> None:
    """Small print in the lower right corner."""
    if text:
        fig.text(0.995, 0.005, text, ha="right", va="bottom", fontsize=6)


def _has_negative(grid: Grid) -> bool:
    return bool((grid.panel.points["mean"] < 0).any())


def _axes(count: int) -> tuple[Figure, list[Axes]]:
    across = min(count, _ABREAST)
    size = (_COLUMN_IN * (1 if count == 1 else across * 0.82), _HEIGHT_IN * ceil(count / across) + 0.25)
    fig = Picture(figsize=size, layout="constrained")
    grid = fig.subplots(ceil(count / across), across, squeeze=False, sharey=True)
    for spare in grid.ravel()[count:]:
        spare.set_axis_off()
    return fig, list(grid.ravel()[:count])


def _curves(ax: Axes, grid: Grid) -> None:
    assert grid.x is not None
    factor = grid.panel.factor
    for column in grid.columns:
        known = [(grid.x.at[row], entry) for row in grid.rows if (entry := grid.entry(row, column))]
        x = [at for at, _ in known]
        ax.plot(
            x, [entry.mean / factor for _, entry in known], label=column.label, **_style(column.colour, column.place)
        )
        banded = [(at, one) for at, one in known if one.low is not None]
        low, high = ([_bound(one, side) / factor for _, one in banded] for side in ("low", "high"))
        ax.fill_between([at for at, _ in banded], low, high, color=_hex(column.colour), alpha=0.2, linewidth=0)
    if grid.x.kind == "log":
        ax.set_xscale("log")
        ticks = [grid.x.at[index] for index in _spread(len(grid.x.at), _MOST_TICKS)]
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.margins(x=0.03, y=0.06)
    ax.set_xlabel(grid.x.title)


def _bars(ax: Axes, grid: Grid) -> None:
    factor, columns = grid.panel.factor, grid.columns
    width = 0.8 / len(columns)
    for place, column in enumerate(columns):
        known = [(row, entry) for row in grid.rows if (entry := grid.entry(row, column))]
        x = np.array([row for row, _ in known]) - 0.4 + width * (place + 0.5)
        ends = [(entry.mean - _bound(entry, "low"), _bound(entry, "high") - entry.mean) for _, entry in known]
        # A bootstrapped interval may lie beside the mean: then there is nothing on one side of it.
        sides = np.maximum(ends, 0).T / factor
        pattern = "////" if column.colour and column.colour.dash else None
        ax.bar(
            x, [entry.mean / factor for _, entry in known], 0.92 * width, yerr=sides, label=column.label,
            color=_hex(column.colour), alpha=0.85, hatch=pattern, edgecolor="white", linewidth=0,
            error_kw={"elinewidth": 0.8, "capsize": 1.8, "ecolor": "0.15"},
        )  # fmt: skip
    ax.set_xticks(list(grid.rows), [grid.x.tick(row) for row in grid.rows] if grid.x else [""])
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False, axis="x")
    ax.margins(x=0.02)
    ax.set_xlabel(grid.x.title if grid.x else "")


def _legend(fig: Figure, axes: list[Axes]) -> None:
    named = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if len(named) > 1:
        columns = max(1, min(len(named), int(fig.get_figwidth() / 1.4)))
        fig.legend(list(named.values()), list(named), loc="outside upper center", ncols=columns)


def _style(colour: Colour | None, place: int | None = None) -> dict[str, Any]:
    """The style of a curve; `place`: of its marker."""
    marked = {} if place is None else {"marker": _MARKERS[place % len(_MARKERS)], "markersize": 2.6}
    line = _LINES[(colour.dash if colour else 0) % len(_LINES)]
    return {"color": _hex(colour), "linestyle": line, **marked}


def _hex(colour: Colour | None) -> str:
    return colour.light if colour else NEUTRAL[0]


def _bound(entry: Entry, side: str) -> float:
    found = getattr(entry, side)
    return float(entry.mean if found is None else found)


def _spread(count: int, most: int) -> list[int]:
    """Indices, evenly spread, first and last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index) for index in np.linspace(0, count - 1, most)})
