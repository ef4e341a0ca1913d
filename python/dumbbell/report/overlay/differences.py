"""Differences between runs, as the axes of a study: a key of the scenario each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.records import Run
from dumbbell.report.study.axes import Axis, axes
from dumbbell.scenario.file.toml import TOMLDecodeError, parse
from dumbbell.scenario.source import leaves, show

_NAMED_BY_THEIR_TABLE: Final = (("loss", "rate"), ("queue", "kind"))
"""Ends of keys that a scenario can also write as the table's value."""
_CHANCE: Final = ("seed", "starts")
"""Keys that make repetitions differ; a study adds them to its cells."""
_LEFT_OUT: Final = frozenset(("name", "description", "record", "sweep", "repeat", "expect", "report", "hunt"))
"""Keys that change no curve."""


def differences(runs: Sequence[Run], but_seeds: bool = False) -> list[Axis]:
    """The keys in which runs differ; `run`, with the names of their directories, if some differ in none.

    Seeds and engines count where nothing else tells two runs apart. `but_seeds`: seeds and names never count.
    """
    rows = [_settings(_scenario(run)) for run in runs]
    found = _axes(rows, [key for key in _keys(rows) if key not in _CHANCE])
    if but_seeds or _are_apart(found, len(runs)):
        return found
    besides = [
        {"engine": run.engine, **{key: row.get(key) for key in _CHANCE}} for run, row in zip(runs, rows, strict=True)
    ]
    found = _axes([row | more for row, more in zip(rows, besides, strict=True)], [*_keys(rows), "engine"])
    if _are_apart(found, len(runs)):
        return found
    names = [Path(run.directory).name for run in runs]
    return _axes(
        [{"run": f"{name} ({i})" if names.count(name) > 1 else name} for i, name in enumerate(names, 1)], ["run"]
    )


def _are_apart(axes_there: Sequence[Axis], count: int) -> bool:
    return len({tuple(axis.cells[i] for axis in axes_there) for i in range(count)}) == count


def _axes(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[Axis]:
    frame = pl.DataFrame({key: _column([row.get(key) for row in rows]) for key in dict.fromkeys(keys)}, strict=False)
    return axes(frame.with_row_index("cell"), frame.columns)


def _column(values: list[Any]) -> list[Any]:
    """The values as a study's table holds them."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or kinds in ({str}, {bool}):
        return values
    return [value if isinstance(value, str | None) else show(value) for value in values]


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = dict.fromkeys(key for row in rows for key in row)
    return [key for key in keys if len({repr(row.get(key)) for row in rows}) > 1]


def _scenario(run: Run) -> Mapping[str, Any]:
    try:
        return parse(run.scenario_text)
    except TOMLDecodeError:
        return {}


def _settings(scenario: Mapping[str, Any]) -> dict[str, object]:
    """Dotted key -> value of what changes curves; what can be written in two ways is written in one."""
    found = {}
    for at, value in leaves({key: value for key, value in scenario.items() if key not in _LEFT_OUT}):
        # A scenario may write one value in place of a list of one.
        plain = value[0] if isinstance(value, list) and len(value) == 1 else value
        found[_plain_name(at)] = plain
    return found


def _plain_name(at: tuple[str, ...]) -> str:
    """The key; the table's where its value can be written in its place, also as the only one of a list."""
    table = at[:-2] if at[-2:-1] == ("0",) else at[:-1]
    return ".".join(table if (table[-1:] + at[-1:]) in _NAMED_BY_THEIR_TABLE else at)
