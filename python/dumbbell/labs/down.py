"""The end of a lab, whoever owns it.

This module imports nothing heavy: `dumbbell lab down` would take twice as long.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from dumbbell.errors import DumbbellError, RunFailed
from dumbbell.labs import place
from dumbbell.labs.agent import ask

PATIENCE_S: Final = 10.0
"""Time for a lab to end."""


def end(lab: Path) -> None:
    """End the lab in this directory, whoever owns it, and wait until it is gone.

    Raises:
        RunFailed: it does not end.
    """
    keep_record(lab)
    ask(lab, {"do": "stop"})
    deadline = time.monotonic() + PATIENCE_S
    while lab.exists() and lab in place.alive():
        if time.monotonic() > deadline:
            why = f"it still lives after {PATIENCE_S:.0f} s"
            raise RunFailed(f"the lab {lab.name} does not end", why, "end its owner; dumbbell lab list --json names it")
        time.sleep(0.002)


def keep_record(lab: Path) -> None:
    """End a recording that goes on, so that it becomes a run."""
    if place.is_recorded(lab):
        from dumbbell.labs import recording

        with suppress(DumbbellError):  # What was recorded is kept as a failed run, which says why.
            recording.stop(lab)
