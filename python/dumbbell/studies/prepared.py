"""A study's scenario and its cells, checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import islice

from dumbbell.errors import Foreseen, ScenarioError
from dumbbell.scenario import Scenario
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.scenario.source import MOST_FINDINGS, Finding
from dumbbell.studies import cells as grid
from dumbbell.studies.check import check, check_metrics, unused


def prepared(draft: Draft) -> tuple[Scenario, list[grid.Cell]]:
    """The scenario that a study's cells vary, and the cells. Raises `ScenarioError`."""
    base = checked(draft)
    cells = grid.cells(base.sweep)
    raise_found(base, [*check(base, cells), *check_metrics(base)])
    for text in unused(base, cells):
        warnings.warn(f"{text} is never used: the study varies this key", Foreseen, stacklevel=3)
    return base, cells


def raise_found(base: Scenario, findings: Iterable[Finding]) -> None:
    """Raise `ScenarioError` with the first findings, if there are any."""
    problems = [base.source.problem(finding) for finding in islice(findings, MOST_FINDINGS)]
    if problems:
        raise ScenarioError(problems)
