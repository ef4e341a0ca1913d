"""The seeds of a cell's runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.errors import InputError
from dumbbell.scenario.quantities import MAX


@dataclass(frozen=True)
class Seeds:
    """So many from the scenario's seed on, or these."""

    count: int
    given: tuple[int, ...] | None = None

    @classmethod
    def asked(cls, repeat: int | None, seeds: Sequence[int] | None) -> Seeds:
        """From what a caller says, one of the two at most. Raises `InputError`."""
        if seeds is None:
            if repeat is not None and repeat < 1:
                raise InputError(f"repeat {repeat}: no runs", "expected at least 1")
            return cls(repeat or 1)
        given = tuple(seeds)
        if repeat is not None:
            raise InputError("repeat and seeds", "each says how many runs a cell has", "leave one of them out")
        if not given or len(set(given)) < len(given) or min(given) < 0 or max(given) > MAX:
            raise InputError("seeds", "expected different numbers, at least one, from 0 on")
        return cls(len(given), given)

    def of(self, first: int) -> tuple[int, ...]:
        """Of a cell whose scenario has the seed `first`."""
        return self.given or tuple(range(first, first + self.count))
