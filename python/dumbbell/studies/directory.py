"""The directory of a study.

studies/<name>-<study_id>/
    study.json       what is varied, how often, by which version, on what machine; `status` says how far it is
    scenario.toml    the scenario, with what the command line has changed
    entries.parquet  what the plans say of the flows of each cell
    shards/          the figures of runs: folders with {runs,flows,links}.parquet, each whole or not there
    runs/            runs of a kernel's TCP, each with its records
    lock             locked while a command works on it
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.caller import give
from dumbbell.errors import InputError, unwritable
from dumbbell.records.directory import name_hint

MANIFEST: Final = "study.json"
SHARDS: Final = "shards"
LOCK: Final = "lock"
STUDIES: Final = Path("studies")
COMPLETE, INCOMPLETE = "complete", "incomplete"
"""States of a study: all runs are accounted for; they were, and results were deleted or damaged since."""
RUNNING, INTERRUPTED, KILLED = "running", "interrupted", "killed"
"""Further states of a study. `killed`: no command works on it, and it is neither complete nor was it stopped."""


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Make the directory and lock it against other commands. Raises `InputError` if that fails."""
    try:
        outputs.make_folder(directory)
        check_place(directory)
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise unwritable(directory, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError(f"another command works on {directory}", hint="wait for it, or stop it") from None
    finally:
        os.close(lock)
        give(directory)


def check_place(directory: Path) -> None:
    """Raise `InputError` if a directory that dumbbell has named, or a part of it, is a link: it may lead writing and
    removing elsewhere."""
    if directory.is_symlink():
        raise _linked(directory)
    check_links(directory)


def check_default(folder: Path, default: Path, option: str) -> None:
    """Raise `InputError` if `folder` is the one that a command takes by default, and is a link.

    For folders whose entries have names that a stranger knows beforehand, or chooses: whatever has such a name where
    the link leads would be replaced. A user who wants that names the folder by `option`.
    """
    if folder == default and folder.is_symlink():
        why = "a stranger may have made it, and what has the same name where it leads would be replaced"
        raise InputError(f"{folder} is a link", why, f"remove it, or name the folder to which it leads: {option} DIR")


def check_links(directory: Path, to: Path | None = None) -> None:
    """Raise `InputError` if a part of a study or a hunt is a link, or one of the folders on the way down to `to`."""
    with os.scandir(directory) as entries:
        for one in entries:
            if one.is_symlink():
                raise _linked(one.path)
    for folder in () if to is None else (to, *to.parents):
        if folder == directory:
            break
        if folder.is_symlink():
            raise _linked(folder)


def _linked(path: str | Path) -> InputError:
    why = "dumbbell writes and removes files of the directory's own alone"
    return InputError(f"{path} is a link", why, "remove the link")


def find(study: str, root: Path = STUDIES) -> Path:
    """The directory that `study` names: itself, or the latest study of this name in `root`. Raises `InputError`."""
    if Path(study).is_dir() or "/" in study:
        return Path(study)
    found = latest(study, root)
    if found is None:
        why = f"there is no such directory, and {root} holds no study with this name"
        raise InputError(f"no study at {study}", why, name_hint(study, root))
    return found


def latest(name: str, root: Path = STUDIES) -> Path | None:
    """The latest study of a name in `root`."""
    named = re.compile(re.escape(name) + r"-[0-9a-f]{12}")
    found = [path for path in root.glob("*") if named.fullmatch(path.name) and (path / MANIFEST).exists()]
    return max(found, key=lambda path: (path / MANIFEST).stat().st_mtime_ns, default=None)
