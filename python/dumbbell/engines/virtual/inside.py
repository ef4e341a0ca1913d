"""The files that the first process of a user-mode kernel, the crate `guest-init`, finds as it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell.engines.virtual import confine

INIT: Final = f"{confine.PLACE}/init"
"""The program that the kernel starts: the same path each time."""
SETTINGS: Final = Path(confine.PLACE, "settings")
EVENTS: Final = Path("logs", "events.jsonl")
"""Events go to a file: a write to it takes no time inside, however slowly they are read."""
STDERR: Final = Path("logs", "guest.stderr")


def prepare(program: Path, directory: Path, folder: str, environment: Mapping[bytes, bytes], live: bool) -> None:
    """Put `INIT` and `SETTINGS` where a kernel that is about to start finds them.

    Args:
        program: the kernel's first process.
        directory: the run's, as it is called outside.
        folder: where programs of the run begin.
        environment: that of the run's programs.
        live: whether events report the progress of flows and links.
    """
    os.symlink(program, INIT)
    variables = (name + b"=" + value for name, value in environment.items())
    texts = [os.fsencode(directory), os.fsencode(folder), b"live" if live else b"", *variables]
    SETTINGS.write_bytes(b"".join(text + b"\0" for text in texts))
