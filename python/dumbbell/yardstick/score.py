"""Scores congestion controls by the yardstick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import mean
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.records.manifest import core_version
from dumbbell.yardstick.cases import Case
from dumbbell.yardstick.metrics import METRICS, Measured, Outcome, measure, overall
from dumbbell.yardstick.running import Job, Tell, simulate
from dumbbell.yardstick.subject import Subject

SCHEMA: Final = 1
"""Version of the form of `score.json`: raised when a key changes its meaning or goes."""
DIGITS: Final = 6
"""Significant digits of numbers in `score.json`."""
UNITS: Final = {metric.name: metric.unit for metric in METRICS}


@dataclass(frozen=True)
class CaseScore:
    """The score in one network."""

    case: Case
    measured: Mapping[str, Measured]
    problem: str | None
    """Why there is nothing to measure, in a sentence; the score is 0 then."""

    @cached_property
    def score(self) -> float:
        """The score, 0 to 1."""
        return overall(one.score for one in self.measured.values())

    @property
    def worst(self) -> str | None:
        """The metric with the lowest score and its value, such as `delay 3.1 base RTT`; `None` without any."""
        name = min(self.measured, key=lambda name: self.measured[name].score, default=None)
        return None if name is None else f"{name} {self.measured[name].value:.3g} {UNITS[name]}".rstrip()


@dataclass(frozen=True)
class Score:
    """The scores of one congestion control in all networks."""

    subject: Subject
    cases: Sequence[CaseScore]

    @cached_property
    def groups(self) -> dict[str, float]:
        """The mean score of each group of networks, by name."""
        found: dict[str, list[float]] = {}
        for one in self.cases:
            found.setdefault(one.case.group.name, []).append(one.score)
        return {name: mean(scores) for name, scores in found.items()}

    @cached_property
    def score(self) -> float:
        """The mean of the groups' scores: groups count the same, however many networks they have."""
        return mean(self.groups.values())


def worst_first(scores: Sequence[Score]) -> list[tuple[CaseScore, ...]]:
    """The first algorithm's score in each network, with those of the others beside it.

    The worst come first; beside others, those in which it is furthest behind the first of them: in some networks nobody
    does well.
    """
    rows = zip(*(one.cases for one in scores), strict=True)
    return sorted(rows, key=lambda row: (row[0].score - (row[1].score if row[1:] else 0), row[0].case.name))


def score(subjects: Sequence[Subject], cases: Sequence[Case], seed: int, tell: Tell) -> list[Score]:
    """Score each of `subjects` in all `cases`; raises as `simulate` does."""
    jobs = [Job(case, one.cc) for one in subjects for case in cases]
    references = [Job(case, case.incumbent) for case in cases if case.incumbent is not None]
    found = simulate([*jobs, *references], seed, tell)
    return [Score(one, [_case(case, one, found) for case in cases]) for one in subjects]


def _case(case: Case, subject: Subject, outcomes: Mapping[tuple[str, str], Outcome | str]) -> CaseScore:
    outcome = outcomes[Job(case, subject.cc).key]
    if isinstance(outcome, str):
        return CaseScore(case, {}, outcome)
    reference = None if case.incumbent is None else outcomes[Job(case, case.incumbent).key]
    measured = measure(outcome, reference if isinstance(reference, Outcome) else None)
    silent = not any(flow["received_bytes"] for flow in outcome.mine)
    return CaseScore(case, measured, "its flows delivered nothing" if silent else None)


def document(scores: Sequence[Score], seed: int) -> dict[str, object]:
    """`score.json`; docs/reference/score.md describes it."""
    return {
        "schema": SCHEMA,
        "version": core_version() or "none",
        "seed": seed,
        "metrics": {one.name: {"unit": one.unit, "value": one.what, "score": one.why} for one in METRICS},
        "algorithms": [_algorithm(one) for one in scores],
    }


def _algorithm(score: Score) -> dict[str, object]:
    return {
        "cc": score.subject.label,
        "score": _rounded(score.score),
        "groups": {name: _rounded(value) for name, value in score.groups.items()},
        "cases": [
            {
                "name": one.case.name,
                "group": one.case.group.name,
                "score": _rounded(one.score),
                "problem": one.problem,
                "metrics": {
                    name: {"value": _rounded(found.value), "score": _rounded(found.score)}
                    for name, found in one.measured.items()
                },
            }
            for one in score.cases
        ],
    }


def _rounded(value: float) -> float | None:
    """`None` of an infinite value, which JSON does not have."""
    return float(f"{value:.{DIGITS}g}") if abs(value) != float("inf") else None
