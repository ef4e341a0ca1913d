"""Problems of the command line as messages: each with the key that it is about, as the browser finds it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dumbbell.errors import DumbbellError
from dumbbell.errors import Problem as ScenarioProblem
from dumbbell.server.messages import Key, Problem


def problem(error: ScenarioProblem, data: Mapping[str, object] | None = None) -> Problem:
    """The message of a problem; `data`: the scenario's values, by which its key is understood."""
    place = error.place
    return Problem(
        what=error.what,
        why=error.why,
        hint=error.hint,
        wrong=error.wrong or error.what,
        key=key_of(error.key, data or {}) if error.key else None,
        line=place.line if place else None,
        column=place.column if place else None,
        length=place.length if place else None,
    )


def problems(error: DumbbellError, data: Mapping[str, object] | None = None) -> list[Problem]:
    """The messages of an error."""
    return [problem(one, data) for one in error.problems]


def key_of(dotted: str, data: Mapping[str, object]) -> Key | None:
    """`flows.1.cc` as a list; numbers are those of lists. `None` if it is no key."""
    try:
        table: Any = tomllib.loads(f"{dotted} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    key: Key = []
    here: Any = data
    while isinstance(table, dict) and len(table) == 1:
        ((part, table),) = table.items()
        is_index = part.isdigit() and (isinstance(here, list) or (here is None and part.isascii()))
        key.append(int(part) if is_index else part)
        here = _inner(here, key[-1])
    return key


def _inner(here: Any, part: str | int) -> Any:
    if isinstance(here, list):
        return here[part] if isinstance(part, int) and part < len(here) else None
    return here.get(part) if isinstance(here, Mapping) else None


def count_below(key: Iterable[str | int], problems: Sequence[Problem]) -> int:
    """The number of problems that are about a key or what is below it."""
    if not problems:
        return 0
    begin = list(key)
    return sum(1 for one in problems if one.key is not None and one.key[: len(begin)] == begin)
