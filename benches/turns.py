"""Measurements in turns, so that a drift of the machine favours none of what is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Kind = TypeVar("Kind")
Measured = TypeVar("Measured")


def in_turns(kinds: Mapping[str, Kind], repeat: int, measure: Callable[[Kind], Measured]) -> dict[str, list[Measured]]:
    """`repeat` measurements of each kind, by its name: round by round, each second round backwards."""
    found: dict[str, list[Measured]] = {name: [] for name in kinds}
    for turn in range(repeat):
        for name in list(kinds)[:: -1 if turn % 2 else 1]:
            found[name].append(measure(kinds[name]))
    return found
