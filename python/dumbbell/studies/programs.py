"""Programs that the runs of a scenario start on this machine: read off the scenarios that are planned, never off texts.

A text has many spellings of one key, and a study has keys that only its cells have.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.scenario.file.overrides import parts_of
from dumbbell.scenario.file.started import DIGEST, opening, started, starting
from dumbbell.scenario.file.writing import path_keys
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.table import Table
from dumbbell.scenario.traffic.algorithms import is_program
from dumbbell.studies.cells import KEYS, Cell, values

MOST: Final = 10_000
"""The most cells that differ in their programs. Nobody would read more."""
LONGEST_S: Final = 10
"""Time for looking at them: other documents wait meanwhile."""


def programs(draft: Draft, base: Scenario | None = None) -> tuple[str, ...]:
    """Returns what runs of a scenario, or a lab of it, start: command lines, and files with the digest of their
    content.

    Args:
        draft: of the scenario, or of the study.
        base: what it says by itself, if that is known.

    Returns:
        Each once: those of the scenario, in the order of its keys, then those of cells.

    Raises:
        InputError: it is not known, as the scenario or a cell means nothing.
    """
    base = checked(draft) if base is None else base
    scenarios = itertools.chain([base], _cells(draft, base))
    return tuple(dict.fromkeys(program for scenario in scenarios for program in started(scenario)))


def brings_files(draft: Draft, base: Scenario | None = None) -> bool:
    """False if runs are certain to compile and load no files of the scenario, and to configure no daemons by them."""
    try:
        return any(DIGEST in program for program in programs(draft, base))
    except InputError:
        return True


def _cells(draft: Draft, base: Scenario) -> Iterator[Scenario]:
    """The cells that may differ in their programs: of those that are alike in all that matters, the first."""
    axes = [_different(axis) for axis in base.sweep.axes]
    if (number := math.prod(map(len, axes))) > MOST:
        why = f"{number:,} cells of the study differ in them"
        raise InputError("programs cannot be shown", why, f"vary them in {MOST:,} cells at most")
    plain, begun = draft.without(KEYS), time.monotonic()
    for parts in itertools.product(*axes) if axes else ():
        if time.monotonic() > begun + LONGEST_S:
            why = f"to look at {number:,} cells that differ in them takes more than {LONGEST_S} s"
            raise InputError("programs cannot be shown", why, "vary them in fewer cells, or run it on the command line")
        cell = {key: value for part in parts for key, value in part.items()}
        yield checked(plain.with_values(values(cell), "sweep"))


def _different(axis: Iterable[Cell]) -> list[Cell]:
    """The items of an axis that differ in their keys, or in values that can bring a program."""
    found: dict[str, Cell] = {}
    for part in axis:
        given = values(part).items()
        found.setdefault(repr([(key, value if _can_bring(key, value) else None) for key, value in given]), part)
    return list(found.values())


def _can_bring(key: str, value: Any) -> bool:
    """True unless `value` at `key` is certain to bring no program."""
    # A table may be written as one of its values, which stands at no key of its own.
    is_own = isinstance(value, dict | list) or is_program(value)
    return is_own or parts_of(key, f"sweep {key}")[-1] in _keys(Table)


@cache
def _keys(table: type[Table]) -> frozenset[str]:
    """Keys at which a value is a program, the path of a file, or a way to this machine's network."""
    return (path_keys(table) | starting(table) | opening(table)).union(*map(_keys, table.__subclasses__()))
