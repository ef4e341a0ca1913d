"""The varied keys of a study as factors of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from dumbbell.errors import InputError
from dumbbell.report import words
from dumbbell.statistics.factorial import Term, effects
from dumbbell.statistics.frames import Frames, main_link
from dumbbell.statistics.metrics import get, values
from dumbbell.studies.cells import keys


def effects_of(
    study: Frames, cells: Sequence[Mapping[str, Any]], metric: str, logarithm: bool, confidence: float, most: int
) -> list[Term]:
    """Returns what `Study.effects` does. `cells`: those of the study."""
    factors = keys(cells)
    known = get(metric)
    scope = "run" if "run" in known.scopes else known.scopes[0]
    rows = values(study, metric, scope)
    if scope == "link":
        rows = rows.filter(of=main_link(study))
    runs: dict[tuple[str, ...], list[float]] = {}
    for cell, value in rows.select("cell", "value").iter_rows():
        if logarithm and value <= 0:
            raise InputError(f"{metric} of a run is {value:g}, which has no logarithm", hint="take it as it is")
        levels = tuple(words.value(cells[cell].get(key, "")) for key in factors)
        runs.setdefault(levels, []).append(log(value) if logarithm else value)
    if not runs:
        raise InputError(f"no usable run has {metric}")
    try:
        return effects(factors, runs, confidence, most)
    except ValueError as error:
        raise InputError(
            f"the effects of {words.listed(factors)} can't be told apart", str(error),
            "vary each key with each value of the others: no `zip`, no missing run",
        ) from None  # fmt: skip
