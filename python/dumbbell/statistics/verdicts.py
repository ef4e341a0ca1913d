"""How far a study can be trusted: its runs' verdicts, counted, and the outcomes of its expectations."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from dumbbell.frozen import dataclass
from dumbbell.statistics.frames import Frames, suspects

if TYPE_CHECKING:
    import polars as pl


class Answer(StrEnum):
    """The outcome of an expectation, from best to worst."""

    HOLDS = "holds"
    UNDECIDED = "cannot be told"
    FAILS = "fails"


@dataclass(frozen=True)
class Verdicts:
    """The number of runs of each verdict."""

    valid: int
    suspect: int
    invalid: int
    """Runs without an attempt that was not invalid; figures leave them out, and those that failed."""
    failed: int
    because: Mapping[str, int]
    """Check -> number of runs that it made suspect, largest first."""

    @property
    def runs(self) -> int:
        """All of them."""
        return self.valid + self.suspect + self.invalid + self.failed

    @property
    def usable(self) -> int:
        """The runs that figures rest on."""
        return self.valid + self.suspect

    @property
    def worst(self) -> str:
        """`valid` only if all runs are; `invalid` if no run can be used, else `suspect`."""
        if self.valid == self.runs:
            return "valid"
        return "suspect" if self.usable else "invalid"

    def __str__(self) -> str:
        """`1 valid, 11 suspect (lateness 9, stall 4), 1 failed`."""
        told = [f"{self.valid:,} valid"]
        told += [f"{self.suspect:,} suspect{self._why}"] if self.suspect else []
        told += [f"{n:,} {what}" for n, what in ((self.invalid, "invalid"), (self.failed, "failed")) if n]
        return ", ".join(told)

    @property
    def _why(self) -> str:
        told = ", ".join(f"{check} {count:,}" for check, count in self.because.items())
        return f" ({told})" if told else ""

    def as_json(self) -> dict[str, object]:
        """Counts, and the checks behind them."""
        counts = {"valid": self.valid, "suspect": self.suspect, "invalid": self.invalid, "failed": self.failed}
        return {**counts, "because": dict(self.because)}


def verdicts(runs: pl.DataFrame) -> Verdicts:
    """The verdicts of `runs`, a row per run; a run that nobody judged counts as valid."""
    import polars as pl

    error, verdict = pl.col("error"), pl.col("verdict")
    found = {"invalid": 0, "suspect": 0} | dict(
        runs.filter((verdict == "invalid") | (error.is_null() & (verdict == "suspect")))["verdict"]
        .value_counts()
        .iter_rows()
    )
    failed = runs.filter(error.is_not_null() & (verdict.is_null() | (verdict != "invalid"))).height
    invalid, suspect = found["invalid"], found["suspect"]
    return Verdicts(runs.height - invalid - suspect - failed, suspect, invalid, failed, suspects(runs))


def suspect_runs(frames: Frames) -> dict[int, int]:
    """Cell -> number of its suspect runs; cells without any are left out."""
    import polars as pl

    found = frames.runs.filter(pl.col("error").is_null() & (pl.col("verdict") == "suspect"))
    return dict(found.group_by("cell").len().sort("cell").iter_rows())
