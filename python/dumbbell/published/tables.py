"""Published numbers and ours as rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.published.curves import number
from dumbbell.published.document import Rows
from dumbbell.published.figures import same
from dumbbell.published.judging import interval_text
from dumbbell.published.model import Part, Table
from dumbbell.published.sides import Side
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval
from dumbbell.statistics.metrics import get

_EACH = ("printed", "ours", "ratio")


def tables(part: Part, sides: Sequence[Side]) -> Iterator[Rows]:
    """The tables that the part declares, then a list of the numbers that are in no table."""
    # An algorithm's ratio to itself says nothing.
    left = [side for side in sides if side.published.of is None or side.published.of != side.published.relative_to]
    for table in part.tables:
        own = [side for side in sides if _is_of(table, side)]
        left = [side for side in left if side not in own]
        if own:
            yield _grid(table, own)
    if left:
        yield _list(left)


def in_words(side: Side) -> str:
    """`Goodput (Mbit/s), rtt 15 ms, cc reno: printed 903, ours 946 [945, 947]`."""
    one = side.published
    factor, metric = _metric(side)
    where = [f"{key.rsplit('.', 1)[-1]} {words.value(value)}" for key, value in one.where.items()]
    printed, ours, _ = _cells(side, factor)
    return f"{', '.join([metric, *where, *([one.of] if one.of else [])])}: printed {printed}, ours {ours}"


def _is_of(table: Table, side: Side) -> bool:
    one = side.published
    return (one.metric, one.of) == (table.metric, table.of) and {table.rows, table.columns} <= one.where.keys()


def _grid(table: Table, sides: Sequence[Side]) -> Rows:
    """A row for each value of one key, and for each value of the other: printed, ours, ratio, and changes."""
    columns = _values(sides, table.columns)
    changes = table.reference is not None
    name = table.rows.rsplit(".", 1)[-1]
    head = [name]
    for column in columns:
        head += [f"{column}: {_EACH[0]}", *_EACH[1:]]
        if changes and not same(column, table.reference):
            head += ["change, printed", "ours"]
    rows = []
    for key in _values(sides, table.rows):
        row = [str(key)]
        found = {str(column): _at(table, sides, key, column) for column in columns}
        reference = found.get(str(table.reference))
        for column in columns:
            side = found[str(column)]
            row += _cells(side, table.factor)
            if changes and not same(column, table.reference):
                row += _changes(side, reference)
        rows.append(row)
    return Rows(f"{table.title}, {table.source}{_count(sides)}", head, rows)


def _values(sides: Sequence[Side], key: str) -> list[object]:
    found: list[object] = []
    for side in sides:
        if side.published.where[key] not in found:
            found.append(side.published.where[key])
    return sorted(found, key=number)


def _at(table: Table, sides: Sequence[Side], row: object, column: object) -> Side | None:
    for side in sides:
        where = side.published.where
        if same(where[table.rows], row) and same(where[table.columns], column):
            return side
    return None


def _cells(side: Side | None, factor: float) -> list[str]:
    if side is None:
        return [words.UNKNOWN] * 3
    bounds = (0.0, None) if side.published.relative_to else get(side.published.metric).bounds
    ours = None if side.ours is None else side.ours.cut(bounds)
    return [words.number(side.value / factor), _ours(ours, factor), _ratio(side.ratio)]


def _changes(side: Side | None, reference: Side | None) -> list[str]:
    if side is None or reference is None:
        return [words.UNKNOWN] * 2
    printed = side.value / reference.value - 1
    ours = None if side.ours is None or reference.ours is None else side.ours.value / reference.ours.value - 1
    return [f"{100 * printed:+.0f} %", words.UNKNOWN if ours is None else f"{100 * ours:+.0f} %"]


def _list(sides: Sequence[Side]) -> Rows:
    keys = list(dict.fromkeys(key for side in sides for key in side.published.where))
    of = any(side.published.of for side in sides)
    head = [*(key.rsplit(".", 1)[-1] for key in keys), *(["of"] if of else []), "metric", *_EACH, "source"]
    rows = []
    for side in sides:
        one = side.published
        factor, metric = _metric(side)
        row = [words.value(one.where.get(key, words.UNKNOWN)) for key in keys] + ([one.of or "all"] if of else [])
        rows.append([*row, metric, *_cells(side, factor), one.source])
    return Rows(f"Printed numbers and ours{_count(sides)}", head, rows)


def _metric(side: Side) -> tuple[float, str]:
    """The divisor of values, and the metric's title with the resulting unit."""
    one = side.published
    factor, unit = _unit(one.metric, side)
    if one.relative_to:
        return factor, f"{get(one.metric).title}, times {one.relative_to}'s"
    return factor, get(one.metric).title + (f" ({unit})" if unit else "")


def _unit(metric: str, side: Side) -> tuple[float, str]:
    unit = get(metric).unit
    if side.published.relative_to:
        return 1.0, ""
    match unit:
        case "bit/s":
            return words.rate_unit(side.value)
        case "B":
            return words.size_unit(side.value)
        case "share":
            return 0.01, "%"
    return 1.0, unit


def _count(sides: Sequence[Side]) -> str:
    """The number of runs."""
    counts = sorted({side.ours.n for side in sides if side.ours is not None})
    if not counts:
        return ", not run"
    return f", n = {counts[0]}" if len(counts) == 1 else f", n = {counts[0]} to {counts[-1]}"


def _ours(interval: Interval | None, factor: float) -> str:
    """`9.31 [9.12, 9.5]`."""
    if interval is None:
        return words.UNKNOWN
    return words.number(interval.value / factor) if interval.low is None else interval_text(interval, factor)


def _ratio(interval: Interval | None) -> str:
    return (
        words.UNKNOWN
        if interval is None
        else f"{interval.value:.2f}"
        if interval.value < 100
        else f"{interval.value:,.0f}"
    )
