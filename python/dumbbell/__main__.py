"""The command `dumbbell`, also as `python -m dumbbell`."""

import os
import signal
import sys
from types import FrameType


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(130)


def main(taken: bool = False) -> None:
    """Entry point of the command. Ctrl-C ends it without a traceback, also while it imports its modules.

    Args:
        taken: the script that calls it has taken Ctrl-C over (`tools/installed/scripts`).
    """
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
