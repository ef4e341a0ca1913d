"""The runs of a study, and the order in which they are numbered.

A round is a repetition of all cells, or of some. Rounds are only ever added, and a run keeps its number whatever is
asked for later: more repetitions, or as many more of a cell as it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


class Scheduled(NamedTuple):
    """One of a study's runs."""

    number: int
    cell: int
    repetition: int


class Schedule:
    """The rounds so far."""

    def __init__(self, cells: int, rounds: Iterable[tuple[int, Sequence[int] | None]] = ()) -> None:
        """The schedule of a study with this many cells. A round is a repetition and its cells; `None`: all cells."""
        self._cells = cells
        self._rounds: list[tuple[int, Sequence[int] | None]] = [(number, some) for number, some in rounds]
        self._done = [0] * cells
        """Repetitions of each cell."""
        for number, some in self._rounds:
            for cell in range(cells) if some is None else some:
                self._done[cell] = number + 1

    @property
    def rounds(self) -> list[list[Any]]:
        """The rounds as in `study.json`."""
        return [[number, None if some is None else list(some)] for number, some in self._rounds]

    def want(self, repetitions: Mapping[int, int] | int) -> list[Scheduled]:
        """The runs for that many repetitions of each cell, or of these cells; rounds are added as needed."""
        wanted = repetitions if isinstance(repetitions, Mapping) else dict.fromkeys(range(self._cells), repetitions)
        for number in range(max(wanted.values(), default=0)):
            some = [cell for cell, count in wanted.items() if self._done[cell] <= number < count]
            if some:
                self._rounds.append((number, None if len(some) == self._cells else some))
                for cell in some:
                    self._done[cell] = number + 1
        return self._until(wanted)

    def _until(self, wanted: Mapping[int, int]) -> list[Scheduled]:
        """All runs up to the last one wanted."""
        runs: list[Scheduled] = []
        needed = 0
        for number, some in self._rounds:
            cells = range(self._cells) if some is None else some
            runs += [Scheduled(len(runs) + i, cell, number) for i, cell in enumerate(cells)]
            if any(number < wanted.get(cell, 0) for cell in cells):
                needed = len(runs)
        return runs[:needed]
