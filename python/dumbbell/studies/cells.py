"""The cells of a study, each with a value for every varied key."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dumbbell.errors import Place, Problem, ScenarioError
from dumbbell.scenario.file.loading import Draft
from dumbbell.scenario.file.overrides import NAMES, value_of
from dumbbell.scenario.file.toml import TOMLDecodeError, plain
from dumbbell.scenario.file.toml import parse as parse_toml
from dumbbell.scenario.source import Key, show
from dumbbell.scenario.study import CASE, Sweep

Cell = Mapping[str, Any]
"""Varied key -> value."""
Vary = Mapping[str, Any] | Sequence[Cell]
"""A list or range of values for each key, all combinations of which are cells; or the cells themselves."""

KEYS: Final = ("sweep", "repeat", "expect", "report", "hunt")
"""Keys that are about many runs; the scenario of a cell has none of these."""

_EXAMPLE = 'write --vary topology.bottleneck.buffer="0.5 bdp,1 bdp"'


def cells(sweep: Sweep) -> list[Cell]:
    """The cells; the last key's values change fastest."""
    return [{key: value for part in parts for key, value in part.items()} for parts in itertools.product(*sweep.axes)]


def keys(cells: Sequence[Cell]) -> list[str]:
    """All keys that the cells have: cases may have different ones."""
    return list(dict.fromkeys(key for cell in cells for key in cell))


MOST_SAMPLED: Final = 2_000
"""Checking one cell takes half a millisecond or more."""


def representative(cells: Sequence[Cell]) -> list[int]:
    """Indices of cells to look at in place of all: all if they are few, else cells that are evenly spread, and for each
    value of each key the first cell that has it."""
    if len(cells) <= MOST_SAMPLED:
        return list(range(len(cells)))
    firsts: dict[tuple[str, str], int] = {}
    for index, cell in enumerate(cells):
        for key, value in cell.items():
            firsts.setdefault((key, show(value)), index)
    step = len(cells) / MOST_SAMPLED
    return sorted({*firsts.values(), *(int(i * step) for i in range(MOST_SAMPLED))})


def values(cell: Cell) -> Cell:
    """The values that a cell sets in the scenario."""
    return {key: value for key, value in cell.items() if key != CASE}


def is_study(draft: Draft) -> bool:
    """True if a scenario has several runs, or expectations."""
    return bool(draft.data.get("sweep") or draft.data.get("expect")) or draft.data.get("repeat", 1) != 1


def varied(draft: Draft, vary: Vary | Iterable[str] | None, repeat: int | None) -> Draft:
    """The draft, in which `--vary` and `--repeat` add to its study or replace parts of it. Raises `InputError`.

    `vary` may also be texts as after `--vary`.
    """
    data, places = dict(draft.data), dict(draft.places)
    sweep = data.get("sweep", {})
    for key, given, text in _given(vary or ()):
        if not isinstance(sweep, dict) or any(key in table for table in _tables(sweep)):
            why = f"{draft.name} varies it together with others"
            raise _refused(text, f"{key} can't be varied by itself", why, "change the file", key)
        sweep = {**sweep, key: given}
        data["sweep"], places["sweep", key] = sweep, text
    if not isinstance(vary, Mapping) and (rows := [plain(one) for one in vary or () if not isinstance(one, str)]):
        data["sweep"] = {**sweep, "zip": [*sweep.get("zip", []), _columns(rows)]}
        places["sweep", "zip"] = "vary"
    if repeat is not None:
        data["repeat"], places["repeat",] = repeat, f"--repeat {repeat}"
    return replace(draft, data=data, places=places)


def _given(vary: Vary | Iterable[str]) -> Iterable[tuple[str, Any, str]]:
    """Key, values, and the text of the option."""
    if isinstance(vary, Mapping):
        yield from ((key, given, f"vary {key}") for key, given in plain(vary).items())
    else:
        texts = [text for text in vary if isinstance(text, str)]
        yield from (
            (key, given, f"--vary {text}") for text, (key, given) in zip(texts, parse(texts).items(), strict=True)
        )


def _tables(sweep: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Cells whose keys vary together."""
    lists = [sweep.get(name, []) for name in ("zip", "cases")]
    return (table for tables in lists if isinstance(tables, list) for table in tables if isinstance(table, dict))


def _columns(rows: Sequence[Cell]) -> dict[str, list[Any]]:
    """Cells as a table of lists of the same length."""
    first = rows[0].keys()
    for row in rows:
        if row.keys() != first:
            why = f"one has {', '.join(first) or 'none'}, another {', '.join(row) or 'none'}"
            raise _refused("vary", "cells with different keys", why, "give each cell a value for each key", "")
    return {key: [row[key] for row in rows] for key in first}


def parse(texts: Iterable[str]) -> dict[str, object]:
    """Parses `["flows.0.cc=cubic,bbr", ...]`. Raises `InputError`."""
    found: dict[str, object] = {}
    for text in texts:
        key, equals, given = text.partition("=")
        key = key.strip()
        if not equals or not key or not given.strip():
            raise _refused(f"--vary {text}", "no values", "expected key=value,value,...", _EXAMPLE, key)
        if key in found:
            hint = f"write all its values after one --vary {key}="
            raise _refused(f"--vary {text}", f"{key} is varied twice", "", hint, key)
        found[key] = _values(given, key)
    return found


def _refused(text: str, wrong: str, why: str, hint: str, key: str) -> ScenarioError:
    return ScenarioError([Problem.at(Place(option=text), wrong, why, hint, key)])


def _values(text: str, key: str) -> Any:
    """A TOML array without its brackets, or a range, or else texts between commas."""
    if key in NAMES:
        return [value_of(part.strip(), key) for part in text.split(",")]
    try:
        parsed = parse_toml(f"values = [{text}]")["values"]
    except TOMLDecodeError:
        return [value_of(part.strip(), key) for part in text.split(",")]
    is_range = len(parsed) == 1 and isinstance(parsed[0], dict) and parsed[0].keys() & {"log", "linear"}
    return parsed[0] if is_range else list(parsed)


def origin(sweep: Mapping[str, Any], key: str, value: Any) -> Key:
    """The key in a study's `[sweep]`, as it is written, that gives cells this value of a varied `key`."""
    tables: list[tuple[Key, Mapping[str, Any]]] = [((), sweep)]
    tables += [((name, i), table) for name in ("zip", "cases") for i, table in enumerate(sweep.get(name, []))]
    for at, table in tables:
        given = table.get(key)
        if isinstance(given, list) and at[:1] != ("cases",):
            if value in given:
                return ("sweep", *at, key, given.index(value))
        elif key in table and (given == value or at[:1] != ("cases",)):
            return ("sweep", *at, key)
    return ("sweep",)


def written(cell: Cell) -> str:
    """`flows.0.cc="bbr", topology.rtt="20 ms"`."""
    return ", ".join(f"{key}={show(value)}" for key, value in cell.items())
