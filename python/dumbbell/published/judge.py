"""The one judge of all claims that have rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.published.claims import Claim
from dumbbell.published.judging import NOT_RUN, all_of, any_of
from dumbbell.published.model import Judged, Part, Status, Studies
from dumbbell.published.rules import Rule
from dumbbell.published.settings import Setting, settings
from dumbbell.published.telling import told_of
from dumbbell.report import words

MOST_NAMED: Final = 8
"""Settings that were left out and are named one by one."""


@dataclass(frozen=True)
class Judge:
    """Judges a claim by the studies that were run."""

    claim: Claim
    rules: tuple[Rule, ...]
    parts: Mapping[str, Part]
    """The parts of the published study, by name."""
    confidence: float

    def __call__(self, studies: Studies) -> Judged:
        """The claim's status, and our numbers."""
        found = list(settings(self.claim, self.rules, self.parts, studies, self.confidence))
        run = [one for one in found if not (one.is_empty if self.claim.tell == "values" else one.is_missing)]
        missing = [one for one in found if one.is_missing]
        if not run:
            return NOT_RUN
        said = told_of(self.claim, self.rules, run)
        if missing and len(found) > 1:
            names = list(dict.fromkeys(one.name for one in missing))
            said += f"; left out: {len(missing)} of {words.count(len(found), 'comparison')}"
            said += f" ({'; '.join(names)})" if len(names) <= MOST_NAMED else ""
        if self.claim.left_out == "ignored":
            found, missing = [one for one in found if not one.is_missing], []
        return Judged(self._status(found, missing, studies), said)

    def _status(self, settings: Sequence[Setting], missing: Sequence[Setting], studies: Studies) -> Status:
        statuses, known = [one.status for one in settings], sum(not one.is_empty for one in settings)
        match self.claim.within:
            case "every setting":
                return self._among(all_of, Status.FAILS, statuses, known, studies)
            case "some setting":
                return self._among(any_of, Status.HOLDS, statuses, known, studies)
            case "all settings alike":
                return statuses[0] if len(set(statuses)) == 1 else Status.UNKNOWN
            case "one side":
                return self._among(one_side, Status.FAILS, statuses, known, studies)
            case "the largest":
                return _of_largest([one for one in settings if one not in missing], bool(missing))

    def _among(
        self,
        of: Callable[[Sequence[Status]], Status],
        by_one: Status,
        statuses: Sequence[Status],
        known: int,
        studies: Studies,
    ) -> Status:
        """The outcome of many settings, where a few can decide that it is `by_one`. `known`: how many have a figure.

        Of many settings some lie beyond a bound by chance. So those that decide must do so by intervals whose
        error is that of the claim divided by the number of settings (Bonferroni's inequality); and as a claim of
        several comparisons fails by one of them, by the number of comparisons. An outcome for which all settings and
        comparisons must agree needs no such correction (R. L. Berger, Technometrics 24:295, 1982).
        """
        outcome = of(statuses)
        deciding = known * (sum(len(one.comparisons) for one in self.rules) if by_one is Status.FAILS else 1)
        if outcome is not by_one or deciding < 2:
            return outcome
        confidence = 1 - (1 - self.confidence) / deciding
        rules = tuple(replace(one, confidence=confidence) for one in self.rules)
        surer = settings(self.claim, rules, self.parts, studies, confidence)
        return outcome if of([one.status for one in surer]) is by_one else Status.UNKNOWN


def one_side(statuses: Sequence[Status]) -> Status:
    """Whether a comparison has the same outcome everywhere, whichever that is."""
    if {Status.HOLDS, Status.FAILS} <= set(statuses):
        return Status.FAILS
    return Status.UNKNOWN if Status.UNKNOWN in statuses else Status.HOLDS


def _of_largest(settings: Sequence[Setting], is_incomplete: bool) -> Status:
    """The status where the figure is largest. What was not run could be larger still, which matters unless the largest
    is too large already."""
    if not settings:
        return Status.UNKNOWN
    largest = max(settings, key=lambda one: -float("inf") if one.subject is None else one.subject.value)
    return Status.UNKNOWN if is_incomplete and not largest.is_above else largest.status
