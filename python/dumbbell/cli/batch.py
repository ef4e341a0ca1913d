"""How far many runs have come, on stderr: a line that renews itself on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dumbbell.execute import Progress

EVERY_S: Final = 30.0
"""Between lines in a log."""


class Teller:
    """Says what is done, of one kind of runs after another."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._renews = sys.stderr.isatty()
        self._told: tuple[str, float] | None = None
        """Kind and time of the latest line."""

    def __call__(self, kind: str, progress: Progress) -> None:
        """Take news; the last of a kind is always said."""
        if self._quiet:
            return
        now, through = time.monotonic(), progress.done + progress.refused == progress.total
        line = f"{kind}: {progress}"
        if self._renews:
            print(f"\r\x1b[K{line}", end="\n" if through else "", file=sys.stderr, flush=True)
        elif through or self._told is None or self._told[0] != kind or now - self._told[1] >= EVERY_S:
            print(line, file=sys.stderr, flush=True)
            self._told = kind, now
