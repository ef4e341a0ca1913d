"""Plots with the axes of the published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import as_file, files
from itertools import cycle
from typing import Any, Final

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter

from dumbbell.published.curves import Boxes, Curve
from dumbbell.published.document import Picture
from dumbbell.published.looks import looks, named
from dumbbell.published.model import Axis, Plot
from dumbbell.report.overlay.figure import POINTS
from dumbbell.report.render.figures import render
from dumbbell.report.study.drawing import hatch
from dumbbell.report.study.drawing import style as of_colour
from dumbbell.report.thin import means
from dumbbell.statistics.intervals import Interval

_SIZE_IN: Final = (3.6, 2.5)
_WIDE_IN: Final = 4.0
_MARKERS: Final = "osD^vP"
_BAR: Final = 0.8
"""Share of the room between two positions."""
_ONE_LINE: Final = 40
"""Letters and signs that fit side by side into a legend, or below an axis, as wide as the picture."""

Series = tuple[str, Sequence[float], Sequence[float]]
"""A label, and points in the axes' units."""


def picture(name: str, plot: Plot, draw: Callable[[Axes], None]) -> Picture:
    """The picture of a plot whose curves `draw` draws."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        fig = Figure(figsize=_SIZE_IN, layout="constrained")
        axes = fig.subplots()
        draw(axes)
        for value, label in plot.marks:
            axes.axhline(value, color="0.5", linewidth=0.9, dashes=(5, 2), label=label)
        for (x, y, label), marker in zip(plot.points, cycle(_MARKERS), strict=False):
            axes.plot(x, y, marker, markersize=5, color="0.1", markerfacecolor="none", clip_on=False, label=label)
        _axis(axes, plot.x, "x")
        _axis(axes, plot.y, "y")
        axes.set_title(plot.title, fontsize=8)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            _legend(fig, axes, plot)
        return rendered(name, plot, fig)


def _legend(fig: Figure, axes: Axes, plot: Plot) -> None:
    """Name the curves, then the printed numbers, then the points and lines that are marks; each name stands once."""
    marks = ["printed", *(label for _, _, label in plot.points), *(label for _, label in plot.marks)]
    order = {label: 1 + place for place, label in enumerate(marks)}
    by_name = {label: sign for sign, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    labels = sorted(by_name, key=lambda label: order.get(label, 0))
    signs = [by_name[label] for label in labels]
    columns = len(labels) if sum(len(label) + 4 for label in labels) <= _ONE_LINE else 3
    small = {"fontsize": 6.5, "title": plot.legend or None, "title_fontsize": 6.5}
    fig.legend(signs, labels, loc="outside upper center", ncols=columns, **small)


def rendered(name: str, plot: Plot, fig: Figure) -> Picture:
    """The picture of a figure that was drawn elsewhere."""
    is_wide = float(fig.get_figwidth()) > _WIDE_IN
    return Picture(name, f"{plot.title} ({plot.source})", render(fig, "svg"), render(fig, "png"), is_wide)


def averages(curves: Sequence[Curve], plot: Plot) -> Callable[[Axes], None]:
    """Lines with bands, or bars; published points are hollow."""
    return (
        (lambda axes: _bars(axes, curves, plot)) if plot.kind == "bars" else (lambda axes: _lines(axes, curves, plot))
    )


def _lines(axes: Axes, curves: Sequence[Curve], plot: Plot) -> None:
    for curve, style in zip(curves, _styles(curves), strict=True):
        colour, marker = style["color"], _MARKERS[curve.order % len(_MARKERS)]
        # Cells are in the study's order, which need not be that of the axis.
        points = sorted(zip(curve.at, curve.ours, strict=True), key=lambda point: point[0])
        at = [place for place, _ in points]
        if points:
            means = [one.value / plot.y.factor for _, one in points]
            axes.plot(at, means, marker=marker, markersize=2.4, label=named(curve.label), clip_on=False, **style)
            low, high = ([_end(one, side) / plot.y.factor for _, one in points] for side in ("low", "high"))
            axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        if curve.published:
            axes.plot(
                *zip(*curve.published, strict=True), linestyle="none", marker=marker, markersize=5, color=colour,
                markerfacecolor="none", markeredgewidth=0.8, clip_on=False,
                label=f"{named(curve.label)} (printed)".strip(),
            )  # fmt: skip


def _bars(axes: Axes, curves: Sequence[Curve], plot: Plot) -> None:
    width = _BAR / max(len(curves), 1)
    ticks: dict[float, str] = {}
    for place, (curve, look) in enumerate(zip(curves, looks([one.name for one in curves]), strict=True)):
        shift = -_BAR / 2 + width * (place + 0.5)
        at = np.array(curve.at) + shift
        ends = [(one.value - _end(one, "low"), _end(one, "high") - one.value) for one in curve.ours]
        axes.bar(
            at, [one.value / plot.y.factor for one in curve.ours], 0.92 * width,
            yerr=np.maximum(ends, 0).reshape(-1, 2).T / plot.y.factor,
            color=look.light, hatch=hatch(look), edgecolor="white", linewidth=0,
            label=named(curve.label), error_kw={"elinewidth": 0.8, "capsize": 1.8},
        )  # fmt: skip
        ticks |= {x: str(value) for x, value in zip(curve.at, curve.x, strict=True)}
        if curve.published:
            x, y = zip(*curve.published, strict=True)
            axes.plot(
                np.array(x) + shift, y, linestyle="none", marker="_", markersize=7, color="0.1",
                label="printed" if curve is curves[-1] else "_",
            )  # fmt: skip
    _categories(axes, ticks)


def boxes(groups: Sequence[Boxes]) -> Callable[[Axes], None]:
    """Median and quartiles, whiskers to the farthest run within 1.5 quartile ranges, and every run as a dot."""

    def draw(axes: Axes) -> None:
        width = _BAR / max(len(groups), 1)
        ticks: dict[float, str] = {}
        for place, (one, look) in enumerate(zip(groups, looks([one.name for one in groups]), strict=True)):
            at = [x - _BAR / 2 + width * (place + 0.5) for x in one.at]
            line = {"color": look.light}
            drawn = axes.boxplot(
                [list(values) for values in one.values], positions=at, widths=0.85 * width, manage_ticks=False,
                patch_artist=True, showfliers=False, medianprops={"color": "0.1"}, whiskerprops=line, capprops=line,
                boxprops={"facecolor": look.light, "alpha": 0.6, "edgecolor": "white", "hatch": hatch(look)},
            )  # fmt: skip
            drawn["boxes"][0].set_label(named(one.label))
            for x, values in zip(at, one.values, strict=True):
                axes.plot([x] * len(values), values, ".", color=look.light, markersize=2)
            ticks |= dict(zip(one.at, one.x, strict=True))
        _categories(axes, ticks)

    return draw


def _categories(axes: Axes, ticks: Mapping[float, str]) -> None:
    """Name the places along x; the parts of a name stand below each other, and its unit if there is no room beside."""
    names = [name.replace(", ", "\n") for name in ticks.values()]
    if len(names) * max((len(part) for name in names for part in name.split("\n")), default=0) > _ONE_LINE:
        names = ["\n".join("\n".join(part.rsplit(" ", 1)) for part in name.split("\n")) for name in names]
    axes.set_xticks(list(ticks), names)
    axes.set_xlim(min(ticks, default=0) - 0.5, max(ticks, default=0) + 0.5)


def lines(series: Sequence[Series]) -> Callable[[Axes], None]:
    """Curves over time. Dense ones are the means of short intervals, with their extremes behind them."""

    def draw(axes: Axes) -> None:
        for (label, x, y), look in zip(series, looks([label for label, _, _ in series]), strict=True):
            at, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
            thin = means(at, values, float(at.max() - at.min()) if len(at) else 0.0, POINTS)
            if thin is not None:
                at, values = thin.time_s, thin.values
                axes.fill_between(at, thin.low, thin.high, color=look.light, alpha=0.2, linewidth=0)
            axes.plot(at, values, linewidth=0.8, label=named(label), **of_colour(look))

    return draw


def steps(samples: Sequence[tuple[str, Sequence[float]]]) -> Callable[[Axes], None]:
    """Cumulative distributions."""

    def draw(axes: Axes) -> None:
        for (label, values), look in zip(samples, looks([label for label, _ in samples]), strict=True):
            axes.ecdf(values, color=look.light, label=f"{named(label)}, n = {len(values):,}")

    return draw


def _end(interval: Interval, side: str) -> float:
    """An end of the interval, or the value where there is none."""
    bound: float | None = getattr(interval, side)
    return interval.value if bound is None else bound


def _styles(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    return [of_colour(look) for look in looks([curve.name for curve in curves])]


def _axis(axes: Axes, axis: Axis, side: str) -> None:
    if axis.log:
        getattr(axes, f"set_{side}scale")("log")
        # Powers of ten would be mathematics, which figures leave as written.
        along = getattr(axes, f"{side}axis")
        along.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        along.set_minor_formatter(LogFormatter(labelOnlyBase=False))
    ends: dict[str, Any] = {"left" if side == "x" else "bottom": axis.low, "right" if side == "x" else "top": axis.high}
    getattr(axes, f"set_{side}lim")(**{key: value for key, value in ends.items() if value is not None})
    getattr(axes, f"set_{side}label")(axis.title)
