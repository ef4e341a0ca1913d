"""Verdicts of the runs that a finding rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.published.model import Finding, Judged, Studies
from dumbbell.report import words

if TYPE_CHECKING:
    from dumbbell.studies import Study


@dataclass(frozen=True)
class Verdicts:
    """Number of a part's runs by verdict."""

    valid: int
    suspect: int
    """Suspect runs, which are used."""
    invalid: int
    failed: int
    """Failed runs. Neither failed nor invalid runs are used."""

    @property
    def said_of_bad(self) -> str:
        """`1 failed, 2 invalid and 3 suspect`; empty if all are valid."""
        found = (("failed", self.failed), ("invalid", self.invalid), ("suspect", self.suspect))
        return words.listed([f"{n:,} {what}" for what, n in found if n])


def verdicts(study: Study) -> Verdicts:
    """Counts a study's runs."""
    if not study.has_runs:
        return Verdicts(0, 0, 0, 0)
    invalid = pl.col("verdict").fill_null("") == "invalid"
    failed = pl.col("error").is_not_null() & ~invalid
    suspect = (pl.col("verdict").fill_null("") == "suspect") & ~failed
    counts = study.runs.select(invalid.sum().alias("i"), failed.sum().alias("f"), suspect.sum().alias("s"))
    bad, broken, doubtful = (int(one) for one in counts.row(0))
    return Verdicts(study.runs.height - bad - broken - doubtful, doubtful, bad, broken)


@dataclass(frozen=True)
class Rest:
    """The runs of a part that a finding rests on."""

    part: str
    runs: int
    verdicts: Verdicts

    @property
    def doubts(self) -> str:
        """`Part 2: of 9 runs 0 valid and 9 suspect.`; empty if all were valid."""
        bad = self.verdicts.said_of_bad
        said = f"Part {self.part}: of {words.count(self.runs, 'run')} {self.verdicts.valid:,} valid, {bad}."
        return said if bad else ""

    @property
    def counts(self) -> str:
        """`2: 9 valid`, `2: 0 valid, 9 suspect`."""
        return f"{self.part}: " + ", ".join(filter(None, [f"{self.verdicts.valid:,} valid", self.verdicts.said_of_bad]))


def judge(finding: Finding, studies: Studies) -> tuple[Judged, list[Rest]]:
    """The finding's outcome, and the parts that it rests on."""
    asked = _Asked(studies)
    judged = finding.judge(asked)
    parts = [part for part in studies if part in asked.parts and studies[part].has_runs]
    return judged, [Rest(part, studies[part].runs.height, verdicts(studies[part])) for part in parts]


class _Asked(Mapping[str, "Study"]):
    """The same studies, with a record of those that were read."""

    def __init__(self, studies: Studies) -> None:
        self._studies = studies
        self.parts: set[str] = set()

    def __getitem__(self, part: str) -> Study:
        found = self._studies[part]
        self.parts.add(part)
        return found

    def __contains__(self, part: object) -> bool:
        return part in self._studies

    def __iter__(self) -> Iterator[str]:
        return iter(self._studies)

    def __len__(self) -> int:
        return len(self._studies)
