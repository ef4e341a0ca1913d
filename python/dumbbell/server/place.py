"""Where a user's servers are noted: their URLs with tokens, in a folder that only the user can enter."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from dumbbell import outputs
from dumbbell.errors import unwritable
from dumbbell.frozen import dataclass
from dumbbell.labs.place import root


@dataclass(frozen=True)
class Noted:
    """A server that runs."""

    url: str
    """With its token."""
    workspace: str
    pid: int
    started: int
    """Clock ticks since the machine's start: another process may get the number of one that has ended."""


def folder() -> Path:
    """The folder, which is made. Raises `InputError` if another user could enter it."""
    found = root().parent / "ui"
    found.mkdir(mode=0o700, exist_ok=True)
    found.chmod(0o700)
    return found


def note(url: str, workspace: Path) -> Path:
    """Note this process's server. Returns the file, which is to be removed at its end."""
    noted()
    file = folder() / f"{os.getpid()}.json"
    this = Noted(url, str(workspace), os.getpid(), _started(os.getpid()) or 0)
    try:
        outputs.write(file, json.dumps(asdict(this)), mode=0o600)
    except OSError as error:
        raise unwritable(file, error, hint="set XDG_RUNTIME_DIR to a folder with room") from error
    return file


def noted() -> list[Noted]:
    """The servers that run. Notes of those that were killed are removed."""
    found = []
    for file in sorted(folder().glob("*.json")):
        with suppress(OSError, ValueError, TypeError):
            one = Noted(**json.loads(file.read_text(encoding="utf-8")))
            if _started(one.pid) == one.started:
                found.append(one)
            else:
                file.unlink()
    return found


def _started(pid: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return None
