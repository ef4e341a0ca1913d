"""Progress of many runs on stderr: one line, rewritten in place on a terminal; elsewhere a line every half minute."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dumbbell.execute import Progress

EVERY_S: Final = 30.0
"""Time between two lines in a log."""


class Teller:
    """Prints the progress of one kind of runs after another."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._renews = sys.stderr.isatty()
        self._told: tuple[str, float] | None = None
        """Kind and time of the latest line."""

    def __call__(self, kind: str, progress: Progress) -> None:
        """Take progress. The last line of a kind is always printed."""
        if self._quiet:
            return
        now, through = time.monotonic(), progress.done + progress.refused == progress.total
        line = f"{kind}: {progress}"
        if self._renews:
            print(f"\r\x1b[K{line}", end="\n" if through else "", file=sys.stderr, flush=True)
        elif through or self._told is None or self._told[0] != kind or now - self._told[1] >= EVERY_S:
            print(line, file=sys.stderr, flush=True)
            self._told = kind, now
