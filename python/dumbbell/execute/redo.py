"""The choice of suspect runs to carry out again: those that the machine disturbed.

A study on a machine that is never quiet ends all the same: each run gets few more attempts, and the study few that
are in vain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable
from typing import Final

from dumbbell.analysis.machine import disturbed

EACH: Final = 2
"""The most further attempts of a run."""
IN_VAIN: Final = 4
"""Further attempts that may be suspect again, in any study ..."""
IN_VAIN_OF_RUNS: Final = 10
"""... and one more for each of this many runs."""


class Redo:
    """Decides about runs by their verdicts, and counts."""

    def __init__(self, runs: int) -> None:
        """The decisions about a batch of `runs`."""
        self.redone = 0
        """Further attempts that have ended."""
        self.valid = 0
        """Runs that are valid after all."""
        self._in_vain = IN_VAIN + runs // IN_VAIN_OF_RUNS
        self._attempts: Counter[Hashable] = Counter()

    @property
    def is_over(self) -> bool:
        """True if too many attempts were in vain: this machine disturbs runs whatever runs beside them."""
        return self._in_vain <= 0

    def wants(self, key: Hashable, verdict: str, checks: Collection[str]) -> bool:
        """True if the run gets another attempt. `checks`: those that it did not pass."""
        return disturbed(verdict, checks) and not self.is_over and self._attempts[key] < EACH

    def end(self, key: Hashable, valid: bool) -> None:
        """Count a further attempt."""
        self._attempts[key] += 1
        self.redone += 1
        self.valid += valid
        self._in_vain -= not valid
