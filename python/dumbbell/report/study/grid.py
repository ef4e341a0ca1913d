"""Cells by the values of what was varied: rows, columns, and what each is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from math import floor, log10

from dumbbell.cc.names import title
from dumbbell.counts import number
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.report.study.axes import Axis
from dumbbell.report.study.curves import Curve, curves
from dumbbell.report.study.model import Entry, Layout, Panel, StudyPlots
from dumbbell.statistics.cells import Method
from dumbbell.statistics.contrasts import Contrast, contrast


@dataclass(frozen=True)
class Column(Curve):
    """A curve with its scope and its value of the second key."""

    of: str
    line: int | None
    """Index of the second key's value; `None`: there is no second key."""
    place: int
    """Among things of its kind: algorithms, or values of the second key."""


class Grid:
    """A panel with one value of every key that neither the horizontal axis nor the curves show."""

    def __init__(self, plots: StudyPlots, panel: Panel, fixed: Mapping[Axis, int], layout: Layout) -> None:
        """`fixed`: index of the value of each other key."""
        self.plots, self.panel, self.fixed = plots, panel, fixed
        self.x, self.lines = layout.x, layout.lines

    @property
    def title(self) -> str:
        """`rate 100 Mbit/s, rtt 20 ms`; empty if nothing is fixed."""
        return ", ".join(axis.word(index) for axis, index in self.fixed.items())

    @property
    def rows(self) -> range:
        """Indices of the values on the horizontal axis."""
        return range(len(self.x.texts) if self.x else 1)

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that have a point."""
        names, looks = self.plots.of, curves(self.plots, self.lines)
        found = []
        for of, line in product(self.panel.of, self._line_values):
            curve = looks[of][line or 0]
            place = names.index(of) if of in names and len(names) > 1 else line or 0
            found.append(Column(curve.label, curve.colour, of, line, place))
        return [column for column in found if any(self.entry(row, column) for row in self.rows)]

    @property
    def _line_values(self) -> list[int | None]:
        return [None] if self.lines is None else list(range(len(self.lines.texts)))

    def entry(self, row: int, column: Column) -> Entry | None:
        """The entry at a value of the horizontal axis."""
        cell = self._cell(row, column.line)
        return None if cell is None else self.panel.entries.get((cell, column.of))

    def interval_texts(self, entry: Entry) -> tuple[str, ...]:
        """An entry's mean and its interval: see `interval_texts`."""
        return interval_texts(self.plots.method, self.panel, entry)

    def change(self, row: int, column: Column) -> Contrast | None:
        """Against the reference; `None` for the reference itself, and where one of the two is missing."""
        to_row, to = self.reference(column)
        to_row = row if to_row is None else to_row
        if to is None or (to_row, to) == (row, column):
            return None
        here, there = self.entry(row, column), self.entry(to_row, to)
        if here is None or there is None:
            return None
        x, y = self.panel.samples(there.cell, to.of), self.panel.samples(here.cell, column.of)
        return contrast(x, y, self.plots.confidence)

    def reference(self, column: Column) -> tuple[int | None, Column | None]:
        """Row (`None`: the same) and column with which a column is compared.

        The same with the second key's first value; without a second key, the first algorithm; of one curve, its first
        point. Another value of either key, or an algorithm, may have been asked for.
        """
        asked = None if self.plots.reference is None else _named(self.plots.reference)
        if self.lines is not None:
            if asked is not None and self._is_scope(asked):
                return None, next((o for o in self.columns if (_named(o.of), o.line) == (asked, column.line)), None)
            if self.x is not None and not _has(self.lines, asked) and _has(self.x, asked):
                return _index(self.x, asked), column
            line = _index(self.lines, asked)
            # Where the second key is the algorithm, each of its values has a scope of its own.
            of = self.lines.texts[line] if column.of == self.lines.texts[column.line or 0] else column.of
            return None, next((one for one in self.columns if (one.of, one.line) == (of, line)), None)
        if len(self.columns) > 1:
            return None, next((one for one in self.columns if _named(one.of) == asked), self.columns[0])
        row = _index(self.x, asked) if self.x else 0
        return (row, column) if len(self.rows) > 1 else (None, None)

    def _is_scope(self, asked: str) -> bool:
        """True if a reader asked for an algorithm that is no value of the second key."""
        values = () if self.lines is None else (*map(_named, self.lines.texts), *self.lines.names)
        return self.lines is not None and asked not in values and asked in map(_named, self.panel.of)

    def reference_words(self) -> str:
        """`against cubic`; empty if nothing is compared."""
        if not self.columns:
            return ""
        row, column = self.reference(self.columns[-1])
        if column is None:
            return ""
        asked = None if self.plots.reference is None else _named(self.plots.reference)
        if asked is not None and self._is_scope(asked):
            return f"against {asked}"
        if self.lines is not None and row is None:
            assert column.line is not None
            return f"against {self.lines.word(column.line)}"
        if row is None or self.x is None:
            return f"against {title(column.of) or column.label}"
        return f"against {self.x.word(row)}"

    def _cell(self, row: int, line: int | None) -> int | None:
        wanted: dict[Axis, int] = dict(self.fixed)
        if self.x is not None:
            wanted[self.x] = row
        if self.lines is not None and line is not None:
            wanted[self.lines] = line
        return self.plots.places.get(tuple(wanted[axis] for axis in self.plots.axes))


def grids(plots: StudyPlots, panel: Panel, layout: Layout | None = None) -> Iterator[Grid]:
    """One for each combination of values of the other keys that has points, in the study's layout by default."""
    layout = layout or plots.layout
    others = layout.others
    for indices in product(*(range(len(axis.texts)) for axis in others)):
        grid = Grid(plots, panel, dict(zip(others, indices, strict=True)), layout)
        if grid.columns:
            yield grid


def _named(text: str) -> str:
    """An algorithm's label, whether a reader writes `bbr3` or `BBRv3`."""
    return title(text)


def _index(axis: Axis, asked: str | None) -> int:
    """Index of the value that a reader asked for; the first by default."""
    return next((i for i, text in enumerate(axis.texts) if asked in (_named(text), axis.names[i])), 0)


def _has(axis: Axis, asked: str | None) -> bool:
    return any(asked in (_named(text), name) for text, name in zip(axis.texts, axis.names, strict=True))


def check_reference(plots: StudyPlots) -> None:
    """Raise `InputError` for a reference that no table has."""
    if plots.reference is None:
        return
    x, lines = plots.layout.x, plots.layout.lines
    known = dict.fromkeys([*(lines.texts if lines else ()), *(x.texts if x else ()), *plots.of])
    if _named(plots.reference) not in map(_named, known):
        why = f"expected one of {', '.join(known)}"
        raise InputError(f"--reference {plots.reference}: no table has it", why, nearest(plots.reference, known))


def interval_texts(method: Method, panel: Panel, entry: Entry) -> tuple[str, ...]:
    """An entry's mean, and its interval by half of its length, or by both ends if it is not symmetric: a bootstrapped
    one, or one that ends where values are no longer possible.

    An entry of one run has the mean alone.
    """
    mean = entry.mean / panel.factor
    if entry.low is None or entry.high is None:
        return (number(mean, 4),)
    low, high = entry.low / panel.factor, entry.high / panel.factor
    half = (high - low) / 2
    is_even = method == "t" and abs(high + low - 2 * mean) <= 1e-9 * max(abs(high), abs(low))
    return rounded(half, mean, half) if is_even else rounded(half, mean, low, high)


def rounded(half: float, *values: float) -> tuple[str, ...]:
    """A mean and what tells its interval, to two digits of half of that."""
    if half <= 0:
        return tuple(number(value, 4) for value in values)
    digits = min(max(0, 1 - floor(log10(half))), 9)
    return tuple(f"{value:,.{digits}f}" for value in values)
