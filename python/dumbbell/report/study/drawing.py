"""The kinds of plots, each drawn into axes of its own."""

from __future__ import annotations

from math import floor, log10
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from dumbbell.report.render.sheet import Sheet
from dumbbell.report.study.colours import NEUTRAL, Colour
from dumbbell.report.study.grid import Column, Grid
from dumbbell.report.study.matrices import Matrix
from dumbbell.report.study.model import Entry

_LINES: Final = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS: Final = "osD^vP"
_HATCHES: Final = ("", "/////", "|||||", "\\\\\\\\\\", "xxxxx", "-----")
"""Dots would be half a thousand circles in an SVG."""
_STEPS: Final = 5
"""Colours that the legend of a matrix names."""


def lines(sheet: Sheet, ax: Axes, grid: Grid) -> None:
    """Means over numbers, with their intervals as bands."""
    assert grid.x is not None
    factor = grid.panel.factor
    for column in grid.columns:
        known = [(grid.x.at[row], entry) for row in grid.rows if (entry := grid.entry(row, column))]
        means = [entry.mean / factor for _, entry in known]
        ax.plot([at for at, _ in known], means, label=column.label, **style(column.colour, column.place))
        banded = [(at, one) for at, one in known if one.low is not None]
        low, high = ([bound(one, side) / factor for _, one in banded] for side in ("low", "high"))
        ax.fill_between([at for at, _ in banded], low, high, color=colour_of(column.colour), alpha=0.2, linewidth=0)
    if grid.x.kind == "log":
        ax.set_xscale("log")
    ax.margins(x=0.03, y=0.06)
    ax.set_xlabel(grid.x.title)
    sheet.numbers(ax, grid.x.at, [grid.x.tick(index) for index in range(len(grid.x.at))])


def bars(sheet: Sheet, ax: Axes, grid: Grid) -> None:
    """A bar for each combination that exists, side by side at its value of the horizontal key."""
    factor, width = grid.panel.factor, _width(grid)
    for column, at, entries in _abreast(grid, width):
        ends = [(one.mean - bound(one, "low"), bound(one, "high") - one.mean) for one in entries]
        # A bootstrapped interval may lie beside the mean: then there is nothing on one side of it.
        sides = np.maximum(ends, 0).T / factor
        means = np.array([one.mean / factor for one in entries])
        ax.bar(
            at, means, 0.92 * width, label=column.label, color=colour_of(column.colour), alpha=0.85,
            hatch=hatch(column.colour), edgecolor="white", linewidth=0,
        )  # fmt: skip
        known = [one.low is not None for one in entries]
        ax.errorbar(
            at[known], means[known], sides[:, known] if any(known) else None, fmt="none", elinewidth=0.8,
            capsize=min(1.8, 20 * width), ecolor="0.15",
        )  # fmt: skip
    _on_categories(sheet, ax, grid)


def boxes(sheet: Sheet, ax: Axes, grid: Grid) -> None:
    """Median and quartiles, whiskers to the farthest run within 1.5 quartile ranges, and every run as a dot."""
    factor, width = grid.panel.factor, _width(grid)
    for column, at, entries in _abreast(grid, width):
        values = [np.array([*grid.panel.samples(one.cell, column.of).values()]) / factor for one in entries]
        colour = colour_of(column.colour)
        drawn = ax.boxplot(
            values, positions=at, widths=0.85 * width, manage_ticks=False, patch_artist=True, showfliers=False,
            boxprops={"facecolor": colour, "alpha": 0.6, "edgecolor": "white", "hatch": hatch(column.colour)},
            medianprops={"color": "0.1"}, whiskerprops={"color": colour}, capprops={"color": colour},
        )  # fmt: skip
        drawn["boxes"][0].set_label(column.label)
        for place, found in zip(at, values, strict=True):
            spread = np.linspace(-0.25, 0.25, len(found)) * width if len(found) > 1 else [0.0]
            ax.plot(place + np.array(spread), np.sort(found), ".", color=colour, markersize=2)
    ax.margins(y=0.06)
    _on_categories(sheet, ax, grid)


def cdf(sheet: Sheet, ax: Axes, grid: Grid) -> None:
    """The share of a cell's runs that have at most a value."""
    for column in grid.columns:
        entry = grid.entry(0, column)
        assert entry is not None
        found = np.sort([*grid.panel.samples(entry.cell, column.of).values()]) / grid.panel.factor
        shares = np.arange(len(found) + 1) / len(found)
        ax.step([found[0], *found], shares, where="post", label=column.label, **style(column.colour))
    ax.set_ylim(0, 1.03)


def _within(entry: Entry, factor: float, decimals: int) -> str:
    """Half of an entry's interval, or both ends if it ends where values do; empty of one run."""
    if entry.low is None or entry.high is None:
        return ""
    low, high = bound(entry, "low") / factor, bound(entry, "high") / factor
    is_even = abs(high + low - 2 * entry.mean / factor) < 0.5 * 10**-decimals
    return f"±{(high - low) / 2:,.{decimals}f}" if is_even else f"{low:,.{decimals}f}–{high:,.{decimals}f}"  # noqa: RUF001


def matrix(sheet: Sheet, ax: Axes, matrix: Matrix, low: float, high: float) -> list[Any]:
    """The mean in colour, and as a number with half of its interval where all find room.

    Returns the numbers, a list that is empty where they find none, filled when the sheet is arranged.
    """
    factor = matrix.panel.factor
    largest = max(abs(low), abs(high)) / factor
    dots: list[tuple[float, float, str, str, str]] = []
    for (row, column), entry in matrix.entries.items():
        share = 0.5 if high <= low else (entry.mean - low) / (high - low)
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=_shade(share), edgecolor="white", lw=0.6))
        decimals = decimals_among(entry.mean / factor, largest)
        mean = f"{entry.mean / factor:,.{decimals}f}"
        dots.append((column, row, mean, _within(entry, factor, decimals), "white" if share < 0.5 else "black"))
    ax.set_xlim(-0.5, len(matrix.columns) - 0.5)
    ax.set_ylim(len(matrix.rows) - 0.5, -0.5)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.set_yticks(range(len(matrix.rows)), [sheet.shortened(name, 1.5, 8) for name in matrix.rows])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(matrix.column_title)
    sheet.categories(ax, matrix.columns)
    choose = sheet.fits[ax]
    written: list[Any] = []

    def fit(wide: float) -> None:
        choose(wide)
        for text in written:
            text.remove()
        written.clear()
        slot, high_in = 0.9 * wide / len(matrix.columns), sheet.heights[0] / len(matrix.rows)
        texts, halves = {dot[2] for dot in dots}, {dot[3] for dot in dots} - {""}
        size = next((size for size in (8.0, 7.0, 6.0, 5.0) if _fit(sheet, texts, slot, size)), None)
        if size is None or high_in < 1.3 * size / 72:
            return
        both = bool(halves) and high_in >= 0.3 and _fit(sheet, halves, slot, 6.0)
        for x, y, mean, half, colour in dots:
            kind: dict[str, Any] = {"ha": "center", "va": "center", "color": colour}
            written.append(ax.text(x, y - (0.19 if both else 0), mean, fontsize=size, **kind))
            if both and half:
                written.append(ax.text(x, y + 0.24, half, fontsize=6, **kind))

    sheet.fits[ax] = fit
    return written


def decimals_of(largest: float) -> int:
    """Decimals that show three digits of the largest value."""
    return min(max(0, 2 - floor(log10(largest))), 6) if largest > 0 else 0


def decimals_among(value: float, largest: float) -> int:
    """Decimals that show three digits of a value, and at most one more than those of the largest beside it."""
    return min(decimals_of(abs(value)), decimals_of(largest) + 1)


def _fit(sheet: Sheet, texts: set[str], slot: float, size: float) -> bool:
    return all(sheet.measured(text, size) <= slot for text in texts)


def shades(low: float, high: float, factor: float) -> dict[str, Patch]:
    """The legend of a matrix: some values with their colours."""
    decimals = decimals_of(max(abs(low), abs(high)) / factor)
    told = {f"{value / factor:,.{decimals}f}": value for value in np.linspace(low, high, _STEPS)}
    return {text: Patch(facecolor=_shade((value - low) / ((high - low) or 1))) for text, value in told.items()}


def _shade(share: float) -> str:
    import matplotlib as mpl

    return mpl.colors.to_hex(mpl.colormaps["cividis"](share))


def most_abreast(grid: Grid) -> int:
    """The most bars at one value of the horizontal key."""
    if grid.x is None:
        return 1
    return max(sum(grid.entry(row, column) is not None for column in grid.columns) for row in grid.rows)


def _width(grid: Grid) -> float:
    """The width of a bar; a bar that is alone at its value is slim."""
    return 0.8 / max(most_abreast(grid), 1.6)


def ticks(grid: Grid) -> list[str]:
    """The texts below bars: values of the horizontal key, or without one the curves' names."""
    if grid.x is None:
        return [column.label for column in grid.columns] if len(grid.columns) > 1 else [""]
    return [grid.x.tick(row) for row in grid.rows]


def _abreast(grid: Grid, width: float) -> list[tuple[Column, np.ndarray[Any, Any], list[Entry]]]:
    """For each curve the places of its bars and their entries."""
    places: dict[int, list[tuple[float, Entry]]] = {index: [] for index in range(len(grid.columns))}
    for row in grid.rows:
        entries = [grid.entry(row, column) for column in grid.columns]
        there = [(index, entry) for index, entry in enumerate(entries) if entry is not None]
        for place, (index, entry) in enumerate(there):
            at = float(index) if grid.x is None else row + width * (place - (len(there) - 1) / 2)
            places[index].append((at, entry))
    return [
        (grid.columns[index], np.array([at for at, _ in found]), [entry for _, entry in found])
        for index, found in places.items()
    ]


def _on_categories(sheet: Sheet, ax: Axes, grid: Grid) -> None:
    texts = ticks(grid)
    ax.grid(visible=False, axis="x")
    ax.set_xlim(-0.5, len(texts) - 0.5)
    ax.set_xlabel(grid.x.title if grid.x else "")
    sheet.categories(ax, texts)


def style(colour: Colour | None, place: int | None = None) -> dict[str, Any]:
    """The style of a curve; `place`: of its marker."""
    marked = {} if place is None else {"marker": _MARKERS[place % len(_MARKERS)], "markersize": 2.6}
    return {"color": colour_of(colour), "linestyle": _LINES[(colour.dash if colour else 0) % len(_LINES)], **marked}


def hatch(colour: Colour | None) -> str:
    """The pattern of a bar: a different one for each dash."""
    return _HATCHES[(colour.dash if colour else 0) % len(_HATCHES)]


def colour_of(colour: Colour | None) -> str:
    """The colour on white."""
    return colour.light if colour else NEUTRAL[0]


def bound(entry: Entry, side: str) -> float:
    """An end of the interval, or the mean where there is none."""
    found = getattr(entry, side)
    return float(entry.mean if found is None else found)
