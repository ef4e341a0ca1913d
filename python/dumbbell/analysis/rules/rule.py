"""A rule of the verdict: one way in which a run can be untrustworthy, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Final

from dumbbell.analysis.evidence import Evidence
from dumbbell.frozen import dataclass

MOST_NAMED: Final = 12
"""Things that a judgement names one by one."""


class Verdict(StrEnum):
    """Verdicts from best to worst."""

    VALID = "valid"
    SUSPECT = "suspect"
    INVALID = "invalid"

    @property
    def badness(self) -> int:
        """0 for valid, 2 for invalid."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Judgement:
    """The result of a rule: its verdict, the measured value, and the threshold."""

    verdict: Verdict
    measured: str
    threshold: str


@dataclass(frozen=True)
class Check:
    """A judgement with the rule's name and reason, as `summary.json` holds it."""

    check: str
    verdict: Verdict
    measured: str
    threshold: str
    why: str

    def as_json(self) -> dict[str, str]:
        """The same, as a JSON object."""
        return {key: str(value) for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Rule:
    """One way in which a run can be untrustworthy."""

    name: str
    why: str
    """The effect of a breach on the results, in one sentence."""
    judge: Callable[[Evidence], Judgement]
    needs: frozenset[str]
    """The evidence that it judges, of `engines.capabilities`. The rule does not apply without it."""

    def check(self, evidence: Evidence) -> Check:
        """Judge `evidence`."""
        found = self.judge(evidence)
        return Check(self.name, found.verdict, found.measured, found.threshold, self.why)


def rule(name: str, why: str, *needs: str) -> Callable[[Callable[[Evidence], Judgement]], Rule]:
    """Make a `Rule` of a function that judges the evidence that is named."""
    return lambda judge: Rule(name, why, judge, frozenset(needs))


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst verdict; `valid` if there is none."""
    return max(verdicts, key=lambda verdict: verdict.badness, default=Verdict.VALID)


def at_most(value: float, limits: tuple[float, float]) -> Verdict:
    """`valid` up to the first limit, `suspect` up to the second, else `invalid`."""
    suspect, invalid = limits
    if value > invalid:
        return Verdict.INVALID
    return Verdict.SUSPECT if value > suspect else Verdict.VALID


def at_least(value: float, limits: tuple[float, float]) -> Verdict:
    """`valid` from the first limit on, `suspect` from the second on, else `invalid`."""
    return at_most(-value, (-limits[0], -limits[1]))


def none_of(count: int, what: str, otherwise: Verdict = Verdict.INVALID) -> Judgement:
    """`valid` if `count` is 0, else `otherwise`."""
    return Judgement(otherwise if count else Verdict.VALID, f"{count} {what}", "none")


def several(names: Sequence[str]) -> str:
    """The findings one after another; of a lot of them the first, and the number of the others."""
    more = len(names) - MOST_NAMED
    return "; ".join(names if more <= 0 else [*names[:MOST_NAMED], f"and {more:,} more"])


NOTHING_TO_JUDGE: Final = "does not apply"


def not_applicable(because: str) -> Judgement:
    """The run has nothing that this rule could judge."""
    return Judgement(Verdict.VALID, f"{NOTHING_TO_JUDGE}: {because}", "")
