"""The command `dumbbell`, also as `python -m dumbbell`."""

import gc
import os
import signal
import sys
from types import FrameType
from typing import Any, Final

IMPORTED: Final = 200_000
"""Objects made before the first search for garbage: modules and the plan of a small network are half as many."""
YOUNG: Final = 10_000
"""Objects made between later searches: a large network's plan stays, and searching it often costs time."""


def _collect_seldom() -> None:
    """Delays the first search for garbage until imports are over: they make none, and a search visits all of them."""
    gc.set_threshold(IMPORTED, 20, 20)
    gc.callbacks.append(_imported)


def _imported(phase: str, info: dict[str, Any]) -> None:
    """Sets the usual threshold after the first search."""
    if phase == "stop":
        gc.callbacks.remove(_imported)
        gc.set_threshold(YOUNG, 20, 20)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(130)


def main(taken: bool = False) -> None:
    """Entry point of the command. Ctrl-C ends it without a traceback, also while it imports its modules.

    Args:
        taken: the script that calls it has taken Ctrl-C over (`tools/installed/scripts`).
    """
    _collect_seldom()
    if not taken and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        taken = True
        signal.signal(signal.SIGINT, _end)
    if sys.argv[1:3] == ["lab", "exec"]:
        from dumbbell.labs.exec import execute

        code = execute(sys.argv[3:])
        if code is not None:
            sys.exit(code)
    from dumbbell.cli import main as command

    command(taken)


if __name__ == "__main__":
    main()
