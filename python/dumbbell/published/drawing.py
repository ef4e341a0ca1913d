"""Plots with the axes of the published ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from typing import Any, Final

import matplotlib.style
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dumbbell.published.curves import Curve
from dumbbell.published.document import Picture
from dumbbell.published.model import Axis, Plot
from dumbbell.report.decimate import extremes
from dumbbell.report.groups import HUES
from dumbbell.report.render.figures import render

_SIZE_IN: Final = (3.6, 2.5)
_MARKERS: Final = "osD^vP"
_BAR: Final = 0.8
"""Share of the room between two positions."""

POINTS: Final = 600
"""Points of a curve over time: a printed picture is some 900 pixels wide."""

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
        _axis(axes, plot.x, "x")
        _axis(axes, plot.y, "y")
        axes.set_title(plot.title, fontsize=8)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            fig.legend(loc="outside upper center", ncols=3, fontsize=6.5)
        return Picture(name, f"{plot.title} ({plot.source})", render(fig, "svg"), render(fig, "png"))


def averages(curves: Sequence[Curve], plot: Plot) -> Callable[[Axes], None]:
    """Lines with bands, or bars; published points are hollow."""
    return (
        (lambda axes: _bars(axes, curves, plot)) if plot.kind == "bars" else (lambda axes: _lines(axes, curves, plot))
    )


def _lines(axes: Axes, curves: Sequence[Curve], plot: Plot) -> None:
    for curve in curves:
        colour, marker = HUES[curve.order % len(HUES)][0], _MARKERS[curve.order % len(_MARKERS)]
        # Cells are in the study's order, which need not be that of the axis.
        points = sorted(zip(curve.at, curve.ours, strict=True), key=lambda point: point[0])
        at = [place for place, _ in points]
        if points:
            means = [one.value / plot.y.factor for _, one in points]
            axes.plot(at, means, color=colour, marker=marker, markersize=2.4, label=curve.label, clip_on=False)
            low, high = (
                [
                    (one.value if bound is None else bound) / plot.y.factor
                    for _, one in points
                    for bound in [getattr(one, side)]
                ]
                for side in ("low", "high")
            )
            axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        if curve.published:
            axes.plot(
                *zip(*curve.published, strict=True), linestyle="none", marker=marker, markersize=5, color=colour,
                markerfacecolor="none", markeredgewidth=0.8, label=f"{curve.label} (printed)".strip(), clip_on=False,
            )  # fmt: skip


def _bars(axes: Axes, curves: Sequence[Curve], plot: Plot) -> None:
    width = _BAR / max(len(curves), 1)
    ticks: dict[float, str] = {}
    for place, curve in enumerate(curves):
        colour = HUES[curve.order % len(HUES)][0]
        shift = -_BAR / 2 + width * (place + 0.5)
        at = np.array(curve.at) + shift
        half = [(one.half_width or 0.0) / plot.y.factor for one in curve.ours]
        axes.bar(
            at, [one.value / plot.y.factor for one in curve.ours], 0.92 * width, yerr=half, color=colour,
            label=curve.label, error_kw={"elinewidth": 0.8, "capsize": 1.8},
        )  # fmt: skip
        ticks |= {x: str(value) for x, value in zip(curve.at, curve.x, strict=True)}
        if curve.published:
            x, y = zip(*curve.published, strict=True)
            axes.plot(
                np.array(x) + shift, y, linestyle="none", marker="_", markersize=7, color="0.1",
                label="printed" if curve is curves[-1] else "_",
            )  # fmt: skip
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlim(min(ticks, default=0) - 0.5, max(ticks, default=0) + 0.5)


def lines(series: Sequence[Series]) -> Callable[[Axes], None]:
    """Curves over time. Long ones keep the extremes of each short interval, which is narrower than a line."""

    def draw(axes: Axes) -> None:
        for place, (label, x, y) in enumerate(series):
            whole = pl.LazyFrame({"time": [round(1e9 * at) for at in x], "value": y}, strict=False)
            span = round(1e9 * (max(x, default=0) - min(x, default=0)))
            kept = extremes(whole, "time", "value", span, POINTS)
            at, values = (kept.time_ns / 1e9).to_list(), kept.values.to_list()
            axes.plot(at, values, color=HUES[place % len(HUES)][0], linewidth=0.8, label=label)

    return draw


def steps(samples: Sequence[tuple[str, Sequence[float]]]) -> Callable[[Axes], None]:
    """Cumulative distributions."""

    def draw(axes: Axes) -> None:
        for place, (label, values) in enumerate(samples):
            axes.ecdf(values, color=HUES[place % len(HUES)][0], label=f"{label}, n = {len(values):,}")

    return draw


def _axis(axes: Axes, axis: Axis, side: str) -> None:
    if axis.log:
        getattr(axes, f"set_{side}scale")("log")
    ends: dict[str, Any] = {"left" if side == "x" else "bottom": axis.low, "right" if side == "x" else "top": axis.high}
    getattr(axes, f"set_{side}lim")(**{key: value for key, value in ends.items() if value is not None})
    getattr(axes, f"set_{side}label")(axis.title)
