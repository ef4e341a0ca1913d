"""The number of runs at a time: runs' outcomes go in, a number comes out.

It begins with as many as have CPUs of their own. After a window of runs that nothing disturbed it is one more. It
shrinks at the first run that was disturbed beside more than that: additive increase, multiplicative decrease, as TCP
itself (D.-M. Chiu and R. Jain, Computer Networks and ISDN Systems 17:1, 1989). A number at which a run was disturbed
is tried again only after a longer series.
"""

from __future__ import annotations

from typing import Final

SHRINK: Final = 0.75
"""Factor after a run that was disturbed."""
BACKOFF: Final = 4
"""Factor of the series before a number at which a run was disturbed; again for each time."""
MOST_BACKOFFS: Final = 2
"""Times that the series grows by it."""


class Window:
    """A number of runs at a time, which learns from those that end."""

    def __init__(self, safe: int, most: int) -> None:
        """Begin with `safe`, which it never goes below, and never go beyond `most`."""
        self.safe, self.size = min(safe, most), min(safe, most)
        self.era = 0
        """Grows by one with each change of the size: runs of an earlier one say nothing about this one."""
        self._most = most
        self._undisturbed = 0
        """Runs in a row of this era that filled the window, and that nothing disturbed."""
        self._failures: dict[int, int] = {}
        """Size -> times in a row at which it was too large."""
        self._proven: set[int] = set()
        """Sizes that went well for a window: something else may disturb the next run that is disturbed there."""

    def end(self, disturbed: bool, together: int, era: int) -> None:
        """Learn from a run.

        Args:
            disturbed: something on the machine disturbed it.
            together: the most runs at a time while it went on, itself among them.
            era: that in which it began.
        """
        if era != self.era:
            return
        if disturbed:
            self._undisturbed = 0
            if together > self.safe:
                self._shrink(min(together, self.size))
        elif together >= self.size:
            self._undisturbed += 1
            if self._undisturbed >= self.size:
                self._proven.add(self.size)
                self._failures.pop(self.size, None)
            if self._undisturbed >= self._series and self.size < self._most:
                self._change(self.size + 1)

    def _shrink(self, size: int) -> None:
        if size in self._proven:
            self._proven.remove(size)
        else:
            self._failures[size] = self._failures.get(size, 0) + 1
        self._change(max(min(size - 1, int(SHRINK * size)), self.safe))

    def _change(self, size: int) -> None:
        self.size, self.era, self._undisturbed = size, self.era + 1, 0

    @property
    def _series(self) -> int:
        """Undisturbed runs before the window grows."""
        failures = self._failures.get(self.size + 1, 0)
        return int(self.size * BACKOFF ** min(failures, MOST_BACKOFFS))


def rounds(runs: int, safe: int, most: int) -> int:
    """The number of times that runs of equal duration begin until all `runs` are done, if nothing disturbs any."""
    window, left, count = Window(safe, most), runs, 0
    while left > 0:
        size, era = min(window.size, left), window.era
        for _ in range(size):
            window.end(disturbed=False, together=size, era=era)
        left -= size
        count += 1
    return count
