"""JSON files that are either whole or absent; who works on a directory."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from dumbbell import parquet
from dumbbell.documents import LARGEST_DOCUMENT, content, parsed
from dumbbell.errors import Damaged
from dumbbell.outputs import write

MOST_INDENTED: Final = 1 << 18
"""Characters of JSON that is indented."""
YOUNG_S: Final = 60.0


def write_json(path: Path, value: Any) -> None:
    """Write `value` as JSON to `path` so that a reader sees the former content or all of the new one."""
    text = json.dumps(value, allow_nan=False)
    # Indenting takes ten times as long, and nobody reads a large file line by line.
    write(path, (text if len(text) > MOST_INDENTED else json.dumps(value, indent=2, allow_nan=False)) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read the JSON object in `path`; a missing or broken file is a `DumbbellError`.

    NaN, half a surrogate pair and more than 200 levels are broken, too: other readers stumble over them.
    """
    value = parsed(path, content(path, LARGEST_DOCUMENT), allow_inf_nan=False)
    if not isinstance(value, dict):
        raise Damaged(f"{path} holds no JSON object", f"found {type(value).__name__}")
    return value


def unreadable(path: Path, whole: bool) -> str:
    """Why a table cannot be read; empty: it can. `whole`: read all of it, or else only what says where its rows lie."""
    try:
        columns = parquet.columns(path)
        for column in columns if whole else ():
            parquet.read(path, columns=[column])
    except parquet.errors() as error:
        return parquet.why(error)
    return ""


def sync_tree(directory: Path) -> None:
    """Make everything below `directory` survive a power cut."""
    for folder, _, names in os.walk(directory):
        for name in names:
            sync(os.path.join(folder, name))
        sync(folder)


def sync(path: str | Path) -> None:
    """Make one file, or a directory's list of names, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a lock on the file `path`, which is made."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_unlocked(root: Path, prefix: str) -> None:
    """Remove folders in `root` that begin with `prefix` and whose file `lock` nobody holds: their maker was killed."""
    for path in root.glob(f"{prefix}*"):
        # A process may be about to lock a young directory.
        with suppress(OSError):
            if time.time() - (path / "lock").stat().st_mtime > YOUNG_S and not is_locked(path / "lock"):
                shutil.rmtree(path)


def is_locked(lock: Path) -> bool:
    """True if a process holds a lock on the file `lock`."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
