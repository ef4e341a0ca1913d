"""JSON files that are either whole or absent; who works on a directory."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import inputs
from dumbbell.errors import DumbbellError, InputError

if TYPE_CHECKING:
    import polars as pl

YOUNG_S: Final = 60.0
LARGEST: Final = 1 << 30
"""Bytes of a JSON file of a run, such as the plan of a large network."""
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def write_json(path: Path, value: Any, for_people: bool = True) -> None:
    """Write `value` to `path` so that a reader sees the former content or all of the new one.

    Args:
        path: the file.
        value: what becomes JSON.
        for_people: indent it. It takes several times as long, which matters for tens of megabytes.
    """
    text = json.dumps(value, indent=2 if for_people else None, allow_nan=False)
    inputs.write(path, f"{text}\n".encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read the JSON object in `path`; a missing or broken file is a `DumbbellError`."""
    try:
        value = loads(inputs.read_text(path, LARGEST))
    except FileNotFoundError:
        raise DumbbellError(
            f"{path} is missing", "the run ended before it was written, or the file was removed"
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read", error.strerror or str(error)) from error
    except ValueError as error:
        raise DumbbellError(f"{path} cannot be read", str(error)) from error
    if not isinstance(value, dict):
        raise DumbbellError(f"{path} holds no JSON object", f"found {type(value).__name__}")
    return value


def loads(text: str) -> Any:
    """The value of a JSON text. Raises `ValueError`, also for what no text in UTF-8 can hold, and for deep nesting."""
    try:
        value = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a table whole or not at all. Raises `OSError`, where polars raises errors of its own."""
    content = BytesIO()
    frame.write_parquet(content)
    inputs.write(path, content.getbuffer(), sync=False)


def unreadable(path: Path, whole: bool) -> str:
    """Why a table cannot be read; empty: it can. `whole`: read all of it, or else only what says where its rows lie."""
    import polars as pl

    try:
        os.close(inputs.opened(path))  # polars waits for a pipe.
        columns = pl.read_parquet_schema(path)
        for column in columns if whole else ():
            pl.read_parquet(path, columns=[column])
    except (OSError, pl.exceptions.PolarsError) as error:
        return (str(error).splitlines() or [type(error).__name__])[0]
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
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
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
