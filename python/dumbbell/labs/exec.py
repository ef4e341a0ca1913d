"""`dumbbell lab exec` without the rest of the command line, which takes several times as long to import."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dumbbell.labs import place, programs


def execute(arguments: Sequence[str]) -> int | None:
    """Carry out `[--lab NAME] NODE COMMAND...`. Returns an exit code; `None`: it is none of these."""
    which = None
    if len(arguments) > 2 and arguments[0] == "--lab":
        which, arguments = arguments[1], arguments[2:]
    if len(arguments) < 2 or arguments[0].startswith("-"):
        return None
    try:
        return programs.run(place.find(which), arguments[0], arguments[1:])
    except Exception as error:
        from dumbbell.errors import DumbbellError

        if not isinstance(error, DumbbellError):
            raise
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
