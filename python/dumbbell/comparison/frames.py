"""Two runs, or two studies, compared in Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dumbbell.agree.figures import common, figures
from dumbbell.comparison import settings
from dumbbell.comparison.settings import Setting
from dumbbell.comparison.studies import DEFAULT, as_row
from dumbbell.comparison.studies import compare as compare_studies
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.records.run import Run
from dumbbell.statistics.metrics import METRICS, get
from dumbbell.studies.directory import MANIFEST
from dumbbell.studies.results import Study

Either = Run | Study | str | os.PathLike[str]


@dataclass(frozen=True)
class Compared:
    """Differences between A and B."""

    settings: tuple[Setting, ...]
    """Keys whose values differ, each with its value in A and in B, as text."""
    figures: pl.DataFrame
    """A row per figure that both have. Runs: `of` (a flow's id, a link's name, or empty), `metric`, `unit`, `a`, `b`,
    `difference`. Studies: `metric`, `unit`, the keys that both vary, `of`, `a`, `b`, `difference` with its interval
    from `low` to `high`, effect sizes, and numbers of runs."""


def compare(a: Either, b: Either, metrics: Sequence[str] = DEFAULT, confidence: float = 0.95) -> Compared:
    """Compare two runs or two studies, B against A, as `dumbbell compare` does.

    Args:
        a: a run, a study, or the directory of one.
        b: another of the same kind.
        metrics: of studies; `["all"]` compares all.
        confidence: of the intervals of studies, between 0 and 1.

    Raises:
        InputError: one is a run and the other a study, there is no such metric, or no cell is in both.
    """
    first, second = _opened(a), _opened(b)
    if isinstance(first, Run) and isinstance(second, Run):
        x, y = figures(first), figures(second)
        rows = [
            {
                "of": one.of,
                "metric": one.measure,
                "unit": one.unit,
                "a": x[one],
                "b": y[one],
                "difference": y[one] - x[one],
            }
            for one in common([x, y])
        ]
        return Compared(tuple(settings.of_runs(first, second)), pl.DataFrame(rows))
    if isinstance(first, Run) or isinstance(second, Run):
        raise InputError("a run and a study", "a study has many runs", "compare two studies, or two runs")
    named = list(METRICS) if "all" in metrics else [get(name).name for name in metrics]
    found = compare_studies(first, second, named, confidence)
    return Compared(
        tuple(settings.of_studies(first, second)), pl.DataFrame([as_row(row, found.keys) for row in found.rows])
    )


def _opened(given: Either) -> Run | Study:
    if isinstance(given, Run | Study):
        return given
    path = Path(given)
    return Study(path) if (path / MANIFEST).exists() else Run(path)
