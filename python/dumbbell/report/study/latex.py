r"""Tables in LaTeX, to be `\input`: booktabs' rules, and no more columns and rows than find room on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, TypeVar

from dumbbell.cc.names import title
from dumbbell.counts import number
from dumbbell.report.study.effects import MEANING, effects_on
from dumbbell.report.study.export import caption, how, timing
from dumbbell.report.study.grid import Column, Grid, grids, interval_texts, rounded
from dumbbell.report.study.kinds import is_of_pairs, kind_of, name_of, shown, tabled
from dumbbell.report.study.matrices import Matrix, of_pairs
from dumbbell.report.study.model import Entry, Panel, StudyPlots
from dumbbell.statistics.cells import Method
from dumbbell.statistics.contrasts import Contrast
from dumbbell.statistics.intervals import Interval

T = TypeVar("T")

TEXT_PT: Final = 345.0
"""Width of the text of an article in 10 pt."""
CHARACTER_PT: Final = 4.1
"""Mean width of a character in \\small, about."""
GAP_PT: Final = 12.0
"""The gap between two columns."""
MOST_ROWS: Final = 18
"""Each has two lines if there are changes."""

_SPECIAL: Final = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the old encoding of LaTeX's fonts other characters have the codes of these.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "µ": r"\textmu{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "×": r"$\times$",  # noqa: RUF001
    "δ": r"$\delta$",
}


def latex(plots: StudyPlots) -> dict[str, bytes]:
    """File name -> content: tables of each metric, one for each value of the keys that are neither rows nor columns."""
    files = {
        name: (_effects if kind_of(plots, panel) == "effects" else _tables)(plots, panel)
        for name, panel in tabled(plots)
    }
    if is_of_pairs(plots):
        files |= {name_of(plots, panel): _matrices(plots, of_pairs(plots, panel)) for panel in shown(plots)}
    head = f"% {_one_line(plots.name)}: made by dumbbell report; needs \\usepackage{{booktabs}}"
    return {f"{name}.tex": "\n".join([head, *lines]).encode() for name, lines in files.items()}


def _effects(plots: StudyPlots, panel: Panel) -> Iterator[str]:
    """A table for each scope: keys with their shares of the variation, and below each its effects."""
    unit = f" ({panel.unit})" if panel.unit else ""
    for found in effects_on(plots, panel):
        of = f", {found.of}" if found.of else ""
        yield from _opening(f"Effects on {panel.metric.title}{of}, {plots.percent} intervals; {MEANING}", 2)
        yield table_line(["", "share of the variation (\\%)", escaped(f"effect{unit}")])
        yield r"\midrule"
        for term in found.terms:
            share = _interval(term.share, 0.01)
            if len(term.effects) > 1:
                yield table_line([escaped(term.name), share, ""])
                yield from (
                    table_line([rf"\quad {escaped(one.levels)}", "", _interval(one.size, panel.factor)])
                    for one in term.effects
                )
                continue
            yield from (
                table_line([escaped(one.levels), share, _interval(one.size, panel.factor)]) for one in term.effects
            )
        yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}", "")


def _interval(interval: Interval, factor: float) -> str:
    value = interval.value / factor
    if interval.low is None or interval.high is None:
        return f"${typeset_number(number(value, 3))}$"
    low, high = interval.low / factor, interval.high / factor
    mean, *ends = map(typeset_number, rounded((high - low) / 2, value, low, high))
    return f"${mean}$ $[{', '.join(ends)}]$"


def _matrices(plots: StudyPlots, matrices: Sequence[Matrix]) -> Iterator[str]:
    """A table for each matrix: algorithms in rows, those beside them in columns."""
    for one in matrices:
        told = {at: _typeset(plots.method, one.panel, entry) for at, entry in one.entries.items()}
        widest = _width([*map(_untyped, told.values()), *one.columns])
        most = max(1, int((TEXT_PT - _width(one.rows)) / widest))
        tables = pieces(range(len(one.columns)), most)
        for place, columns in enumerate(tables, 1):
            unit = f" ({one.panel.unit})" if one.panel.unit and one.panel.unit not in one.panel.title.lower() else ""
            at = f" at {one.title}" if one.title else ""
            said = f"{one.panel.title}{unit}{at}: {one.row_title} of the row beside that of the column, "
            said += ", ".join(filter(None, [timing(plots), how(plots)]))
            said += _part(place, len(tables))
            yield from _opening(said, len(columns))
            yield table_line(["", *(escaped(one.columns[column]) for column in columns)])
            yield r"\midrule"
            for row, name in enumerate(one.rows):
                yield table_line([escaped(name), *(told.get((row, column), "--") for column in columns)])
            yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}", "")


def _untyped(text: str) -> str:
    return text.replace("$", "").replace(r"\pm", "+")


def _opening(text: str, columns: int) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"\centering"
    yield r"\small"
    yield rf"\caption{{{escaped(text)}}}"
    # The classes of LaTeX itself leave no room below a caption: they expect it below the table.
    yield r"\medskip"
    yield rf"\begin{{tabular}}{{l{'r' * columns}}}"
    yield r"\toprule"


def _tables(plots: StudyPlots, panel: Panel) -> Iterator[str]:
    for grid in grids(plots, panel):
        rows = [row for row in grid.rows if any(grid.entry(row, column) for column in grid.columns)]
        parts = [(some, columns) for some in pieces(rows, MOST_ROWS) for columns in _side_by_side(grid, rows)]
        for place, (some_rows, some_columns) in enumerate(parts, 1):
            yield from _table(grid, some_rows, some_columns, _part(place, len(parts)))
            yield ""


def _part(number: int, count: int) -> str:
    """The end of the caption of one of several tables."""
    return f", part {number} of {count}" if count > 1 else ""


def _table(grid: Grid, rows: Sequence[int], columns: Sequence[Column], part: str) -> Iterator[str]:
    groups = [(of, len(list(some))) for of, some in groupby(columns, lambda column: column.of)]
    in_groups = len(grid.panel.of) > 1 and grid.lines is not None
    said = f"; columns by {grid.lines.label}" if in_groups and grid.lines else ""
    yield from _opening(caption(grid) + said + part, len(columns))
    if in_groups:
        yield table_line(["", *(rf"\multicolumn{{{n}}}{{c}}{{{escaped(title(of))}}}" for of, n in groups)])
        yield " ".join(_rules(groups))
    yield table_line(
        [escaped(grid.x.title if grid.x else ""), *(escaped(_head(grid, one, in_groups)) for one in columns)]
    )
    yield r"\midrule"
    for row in rows:
        values = (_value(grid, grid.entry(row, column)) for column in columns)
        yield table_line([escaped(grid.x.tick(row) if grid.x else ""), *values])
        changes = [_relative(grid.change(row, column)) for column in columns]
        if any(changes):
            yield table_line(["", *changes])
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _rules(groups: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Below the name of each group."""
    first = 2
    for _, n in groups:
        yield rf"\cmidrule(lr){{{first}-{first + n - 1}}}"
        first += n


def _head(grid: Grid, column: Column, in_groups: bool) -> str:
    if in_groups and grid.lines is not None and column.line is not None:
        return grid.lines.names[column.line]
    return column.label


def _value(grid: Grid, entry: Entry | None) -> str:
    return "--" if entry is None else _typeset(grid.plots.method, grid.panel, entry)


def _typeset(method: Method, panel: Panel, entry: Entry) -> str:
    mean, *interval = map(typeset_number, interval_texts(method, panel, entry))
    match interval:
        case [half]:
            return f"${mean} \\pm {half}$"
        case [low, high]:
            return f"${mean}$ $[{low}, {high}]$"
    return f"${mean}$"


def typeset_number(text: str) -> str:
    """`1{,}000` is `1\\,000` in a formula, and `1e-05` a power of ten."""
    return re.sub(r"e([+-])0*(\d+)", lambda m: rf" \times 10^{{{m[1].strip('+')}{m[2]}}}", text).replace(",", r"\,")


def _relative(change: Contrast | None) -> str:
    found = None if change is None else change.relative
    if found is None:
        return ""
    clear = "" if change is None or change.is_clear or found.low is None else r"\,\textsuperscript{ns}"
    return f"(${100 * found.value:+.1f}$\\,\\%{clear})"


def table_line(cells: Sequence[str]) -> str:
    r"""A row. LaTeX would read a cell that begins with a bracket or an asterisk as an argument of the `\\` before
    it."""
    first, *others = cells
    return " & ".join([f"{{{first}}}" if first[:1] in ("[", "*") else first, *others]) + r" \\"


def escaped(text: str) -> str:
    """Text as text, for LaTeX of 2018 and later, which reads UTF-8."""
    return "".join(_SPECIAL.get(char, char) for char in _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _side_by_side(grid: Grid, rows: Sequence[int]) -> list[Sequence[Column]]:
    """Columns that find room on a page together, beside the first, which says what rows are of."""
    several = len(grid.panel.of) > 1
    first = _width([grid.x.title, *map(grid.x.tick, rows)] if grid.x else [])
    columns = [
        _width([_head(grid, column, several), *(_plain(grid, grid.entry(row, column)) for row in rows)])
        for column in grid.columns
    ]
    most = max(1, int((TEXT_PT - first) / max(columns)))
    of_each = len(grid.lines.texts) if several and grid.lines else 1
    # Columns under one name stay together, if they can.
    return pieces(grid.columns, most - most % of_each if most > of_each else most)


def _width(texts: Sequence[str]) -> float:
    """The width of a column, in pt."""
    return CHARACTER_PT * max(map(len, texts), default=0) + GAP_PT


def _plain(grid: Grid, entry: Entry | None) -> str:
    return "" if entry is None else " ± ".join(grid.interval_texts(entry))


def pieces(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Split `items` into as few pieces as possible, of about the same length and at least one item."""
    count = -(-len(items) // most)
    return [items[first:end] for first, end in pairwise(len(items) * i // count for i in range(count + 1))]
