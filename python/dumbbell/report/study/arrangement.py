"""The place of each varied key in a plot: one that suits most readers, or the one that a description names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dumbbell.cc.names import label
from dumbbell.errors import InputError
from dumbbell.hints import nearest
from dumbbell.report.study.axes import LEFT_OUT, Axis
from dumbbell.report.study.model import Layout
from dumbbell.scenario.source import show
from dumbbell.scenario.study import Plot

MOST_CURVES: Final = 12
"""Curves of one plot, if a reader has not asked for more."""
MOST_LINES: Final = 6
"""Values of a key that are curves by default, unless they are algorithms."""
NONE: Final = "none"
EVERY: Final = ""
"""In place of a metric's name: all that the page shows."""


def layout(axes: Sequence[Axis], of: Sequence[str], described: Plot) -> Layout:
    """Numbers are the horizontal axis and algorithms are curves, unless the description says otherwise.

    `axes` are sorted, the best one for a horizontal axis first. `of`: the scopes that separate flows. Raises
    `InputError` for a key that the study does not vary.
    """
    x = find(axes, described.across, "across") if described.across else None
    asked = described.curves if described.curves not in (None, NONE, "") else None
    lines = find(axes, asked, "curves") if asked else None
    if lines is not None and lines is x:
        raise InputError(f"{lines.label} is across and gives the curves", "a key has one place in a plot")
    panels = [find(axes, key, "panels") for key in described.panels]
    free = [axis for axis in axes if axis not in (x, lines) and axis not in panels]
    x = x or _across(free)
    rest = [axis for axis in free if axis is not x]
    if lines is None and described.curves != NONE:
        lines = _curves(rest, x, len(of))
    others = (*panels, *(axis for axis in rest if axis is not lines and axis not in panels))
    return Layout(x, lines, tuple(axis for axis in others if axis not in (x, lines)))


def _across(free: Sequence[Axis]) -> Axis | None:
    numbers = [axis for axis in free if axis.kind != "category"]
    words = [axis for axis in free if not axis.is_algorithm]
    return next(iter([*numbers, *words, *free]), None)


def _curves(rest: Sequence[Axis], x: Axis | None, scopes: int) -> Axis | None:
    algorithms = [axis for axis in rest if axis.is_algorithm and len(axis.texts) <= MOST_CURVES]
    if algorithms or (x is not None and x.is_algorithm):
        return next(iter(algorithms), None)
    few = [axis for axis in rest if len(axis.texts) <= MOST_LINES and max(scopes, 1) * len(axis.texts) <= MOST_CURVES]
    return min(few, key=lambda axis: len(axis.texts), default=None)


def with_rows(layout: Layout) -> Layout:
    """The layout of heat maps: if no key gives curves, the next key gives rows."""
    if layout.lines is not None or not layout.others:
        return layout
    rows, *others = layout.others
    return Layout(layout.x, rows, tuple(others))


def find(axes: Sequence[Axis], name: str, place: str) -> Axis:
    """The axis of a key, by the key or by the end that plots show of it. Raises `InputError`."""
    for axis in axes:
        if name in (axis.key, axis.label, axis.key.rpartition(".")[2]) or (axis.is_algorithm and name == "algorithm"):
            return axis
    known = [axis.key for axis in axes]
    why = f"it varies {', '.join(known)}" if known else "it varies no key"
    raise InputError(
        f"{place} {name}: the study does not vary it", why, nearest(name, [*known, *(axis.label for axis in axes)])
    )


def arranged(axes: Sequence[Axis], described: Plot) -> list[Axis]:
    """The axes with the values, their order, and the names that a description asks for. Raises `InputError`."""
    kept = _kept(axes, described.where)
    return [_rearranged(axis, kept, described) for axis in axes]


def _kept(axes: Sequence[Axis], where: Mapping[str, Any]) -> list[bool]:
    """For each cell, true if it is meant."""
    count = len(axes[0].cells) if axes else 1
    kept = [True] * count
    for key, wanted in where.items():
        axis = find(axes, key, "where")
        texts = {_text(value) for value in (wanted if isinstance(wanted, list) else [wanted])}
        for text in texts:
            if text not in (*axis.texts, *axis.names):
                raise InputError(f"where {axis.label} {text}: no cell has it", f"there are {', '.join(axis.texts)}")
        meant = [text in texts or name in texts for text, name in zip(axis.texts, axis.names, strict=True)]
        kept = [one and meant[index] for one, index in zip(kept, axis.cells, strict=True)]
    return kept


def _text(value: Any) -> str:
    return label(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else show(value)


def _rearranged(axis: Axis, kept: Sequence[bool], described: Plot) -> Axis:
    used = {index for index, one in zip(axis.cells, kept, strict=True) if one}
    indices = [index for index in range(len(axis.texts)) if index in used]
    if axis.kind == "category":
        indices = ordered(indices, [(axis.texts[i], axis.names[i]) for i in range(len(axis.texts))], described.order)
    place = {index: at for at, index in enumerate(indices)}
    cells = tuple(place[i] if one else LEFT_OUT for i, one in zip(axis.cells, kept, strict=True))
    labels = described.labels
    names = tuple(labels.get(axis.texts[i], labels.get(axis.names[i], axis.names[i])) for i in indices)
    at = tuple(axis.at[i] for i in indices) if axis.kind != "category" else tuple(map(float, range(len(indices))))
    return replace(
        axis, texts=tuple(axis.texts[i] for i in indices), names=names, at=at, cells=cells,
        label=labels.get(axis.key, labels.get(axis.label, axis.label)),
    )  # fmt: skip


def ordered(indices: Iterable[int], texts: Sequence[tuple[str, ...]], order: Sequence[str]) -> list[int]:
    """Indices, those first of which a text is in `order`."""

    def rank(index: int) -> int:
        return min((order.index(text) for text in texts[index] if text in order), default=len(order))

    return sorted(indices, key=rank)
