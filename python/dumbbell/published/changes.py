"""How near our changes are to printed ones: a study may be near in its levels, and far in what it says of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from dumbbell.frozen import dataclass
from dumbbell.published.curves import number
from dumbbell.published.figures import same
from dumbbell.published.model import Table
from dumbbell.published.sides import Side


@dataclass(frozen=True)
class Changes:
    """The changes from a table's reference to its last column, row by row."""

    factor: float
    """Between our changes and theirs, either way: the geometric mean. A change is the last column divided by the
    reference."""
    printed: float
    """The factor that no change at all would have."""
    counted: int


def changes(tables: Sequence[Table], sides: Sequence[Side]) -> Changes | None:
    """The changes of a part's tables; `None` if there are none that both have."""
    pairs = [pair for table in tables for pair in _of_table(table, sides)]
    if not pairs:
        return None
    ours, theirs = ([log(pair[i]) for pair in pairs] for i in (0, 1))
    factor = exp(sum(abs(one - two) for one, two in zip(ours, theirs, strict=True)) / len(pairs))
    return Changes(factor, exp(sum(map(abs, theirs)) / len(pairs)), len(pairs))


def _of_table(table: Table, sides: Sequence[Side]) -> list[tuple[float, float]]:
    """Our change and theirs, of each row that has both."""
    if table.reference is None:
        return []
    own = [
        side
        for side in sides
        if (side.published.metric, side.published.of) == (table.metric, table.of)
        and {table.rows, table.columns} <= side.published.where.keys()
        and side.value > 0
    ]
    last = max((side.published.where[table.columns] for side in own), key=number, default=None)
    found = []
    for side in own:
        if side.published.where[table.columns] != last or same(last, table.reference):
            continue
        before = next((one for one in own if _is_reference(table, one, side)), None)
        if before is None or None in (side.ours, before.ours):
            continue
        assert side.ours is not None
        assert before.ours is not None
        if min(side.ours.value, before.ours.value) > 0:
            found.append((side.ours.value / before.ours.value, side.value / before.value))
    return found


def _is_reference(table: Table, side: Side, other: Side) -> bool:
    here, there = side.published.where, other.published.where
    return same(here[table.columns], table.reference) and same(here[table.rows], there[table.rows])
