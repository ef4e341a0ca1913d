"""The exit code of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.errors import ExpectationFailed, ExpectationUndecided, RunFailed, RunInvalid
from dumbbell.statistics.verdicts import Answer
from dumbbell.studies.directory import INCOMPLETE

if TYPE_CHECKING:
    from dumbbell.studies.results import Study


def failures(study: Study) -> list[dict[str, object]]:
    """Rows of unusable runs: failed ones, and those whose attempts were all invalid."""
    import polars as pl

    return study.runs.filter(pl.col("error").is_not_null()).to_dicts() if study.has_runs else []


def exit_code(study: Study) -> int:
    """The command's exit code: an expectation that fails is worst, then unusable or missing runs, then undecided
    expectations."""
    answers = {one["answer"] for one in study.manifest.get("expectations", ())}
    unusable = failures(study)
    if Answer.FAILS in answers:
        return ExpectationFailed.exit_code
    if study.state == INCOMPLETE or any(row["verdict"] is None for row in unusable):
        return RunFailed.exit_code
    if unusable:
        return RunInvalid.exit_code
    return ExpectationUndecided.exit_code if Answer.UNDECIDED in answers else 0
