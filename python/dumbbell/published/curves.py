"""The content of a plot: curves of our means and intervals, and the published points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from dumbbell.frozen import dataclass
from dumbbell.published.figures import Figures, same
from dumbbell.published.model import Cell, Plot, Published
from dumbbell.published.ratios import ratio
from dumbbell.statistics.intervals import Interval
from dumbbell.units import Percent, Quantity, QuantityError, Rate, Size, Time

_KINDS: tuple[tuple[type[Quantity], float], ...] = ((Time, 1e-9), (Rate, 1.0), (Size, 1.0))
_LEADING = re.compile(r"\s*([0-9.]+)")


@dataclass(frozen=True)
class Curve:
    """The curve of one `of` and one value of the plot's key for curves."""

    label: str
    x: list[Any]
    """Values of the swept key."""
    at: list[float]
    """Positions in the axis's unit; for categories, their index."""
    ours: list[Interval]
    published: list[tuple[float, float]] = field(default_factory=list)
    """Published points in the axes' units."""
    order: int = 0
    """Index among the curves, which decides the marker."""
    name: str = ""
    """All that it is of, between commas: names its colour."""


@dataclass(frozen=True)
class Boxes:
    """The runs of one curve."""

    label: str
    name: str
    """All that they are of, between commas: names their colour."""
    at: Sequence[float]
    x: Sequence[str]
    """Names of the places."""
    values: Sequence[Sequence[float]]
    """The runs at each place, in the axis's unit."""


def curves(plot: Plot, figures: Figures, published: tuple[Published, ...], confidence: float) -> list[Curve]:
    """The curves with at least one point."""
    found = list(_curves(plot, figures, published, confidence))
    return [curve for curve in found if curve.ours or curve.published]


def _curves(plot: Plot, figures: Figures, published: tuple[Published, ...], confidence: float) -> Iterator[Curve]:
    assert plot.key is not None
    keys = figures.along(plot.key, plot.where)
    values = figures.along(plot.curves, plot.where) if plot.curves else [None]
    for order, (of, value) in enumerate((of, value) for of in plot.of or (None,) for value in values):
        where = {**plot.where, **({plot.curves: value} if plot.curves else {})}
        x, at, ours = [], [], []
        for place, key in enumerate(keys):
            found = _ours(plot, figures, of, {**where, plot.key: key}, confidence)
            if found is not None:
                x.append(key)
                at.append(_place(plot, key, place))
                ours.append(found)
        name = _name(figures, of, value, where)
        points = list(_points(plot, published, of, where, keys))
        yield Curve(_label(plot, of, value), x, at, ours, points, order, name)


def _label(plot: Plot, of: str | None, value: Any) -> str:
    """The name in the legend, without an algorithm that all curves have."""
    return ", ".join(str(part) for part in (of if len(plot.of) > 1 else None, value) if part is not None)


def _name(figures: Figures, of: str | None, value: Any, where: Cell) -> str:
    """`bbr, 10 %`. The value of a link, or of all flows together, is of all algorithms of its cells."""
    algorithms = figures.algorithms(where) if of is None else [of]
    return ", ".join(dict.fromkeys(str(part) for part in (*algorithms, value) if part is not None))


def _ours(plot: Plot, figures: Figures, of: str | None, cell: Cell, confidence: float) -> Interval | None:
    if plot.relative_to is None:
        return figures.interval(plot.metric, of, cell, confidence)
    below = figures.samples(plot.metric, plot.relative_to, cell)
    return ratio(figures.samples(plot.metric, of, cell), below, confidence)


def _points(
    plot: Plot, published: tuple[Published, ...], of: str | None, where: dict[str, object], keys: list[Any]
) -> Iterator[tuple[float, float]]:
    assert plot.key is not None
    for one in published:
        is_shown = one.relative_to is None or plot.relative_to is not None
        if one.metric != plot.metric or one.of != of or not is_shown or plot.key not in one.where:
            continue
        if all(key in one.where and same(one.where[key], value) for key, value in where.items()):
            key = one.where[plot.key]
            if key in keys or plot.kind == "lines":
                below = plot.y.factor if plot.relative_to is None else _below(plot, published, one)
                if below:
                    yield _place(plot, key, keys.index(key) if key in keys else 0), one.value / below


def _below(plot: Plot, published: tuple[Published, ...], printed: Published) -> float | None:
    """The printed number to which another of the same cell is relative."""
    same_cell = (two for two in published if (two.metric, two.where) == (printed.metric, printed.where))
    return next((two.value for two in same_cell if two.of == plot.relative_to), None)


def _place(plot: Plot, key: Any, place: int) -> float:
    return float(place) if plot.kind == "bars" else number(key) / plot.x.factor


def number(value: Any) -> float:
    """A swept value in base units: seconds, bit/s, bytes, a share; for other texts, the leading number.

    Raises:
        ValueError: there is none.
    """
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        for kind, factor in _KINDS:
            try:
                return float(kind.parse(value)) * factor
            except QuantityError:
                continue
        try:
            return Percent.parse(value).probability
        except QuantityError:
            pass
        if leading := _LEADING.match(value):
            return float(leading[1])
    raise ValueError(f"{value!r} has no place on an axis of numbers")


def boxes_of(plot: Plot, figures: Figures, published: Sequence[Published]) -> list[Boxes]:
    """The runs of each cell along the plot's key, for each curve that has any.

    If the study prints numbers of the metric for some values of the key, only these have boxes: a grid of 30 values
    leaves no room for them.
    """
    assert plot.key is not None
    found = []
    printed = [one.where[plot.key] for one in published if one.metric == plot.metric and plot.key in one.where]
    ran = figures.along(plot.key, plot.where)
    keys = [key for key in ran if any(same(key, one) for one in printed)] or ran
    values = figures.along(plot.curves, plot.where) if plot.curves else [None]
    for of, value in ((of, value) for of in plot.of or (None,) for value in values):
        where = {**plot.where, **({plot.curves: value} if plot.curves else {})}
        runs = {
            (place, str(key)): [run / plot.y.factor for run in own.values()]
            for place, key in enumerate(keys)
            if (own := figures.samples(plot.metric, of, {**where, plot.key: key}))
        }
        if runs:
            name = _name(figures, of, value, where)
            places, names = zip(*runs, strict=True)
            found.append(
                Boxes(_label(plot, of, value), name, [float(place) for place in places], names, list(runs.values()))
            )
    return found
