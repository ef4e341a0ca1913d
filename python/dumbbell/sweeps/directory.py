"""Where a sweep lies on disk.

sweeps/<name>-<sweep_id>/
    sweep.json       what was varied, by which version, on what machine; `status` says how far it is
    scenario.toml    the scenario that the cells vary
    shards/00000000-00000063/{runs,flows,links}.parquet    the figures of runs 0 to 63; each whole or not there
    lock             locked while a command works on it
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dumbbell.errors import InputError

MANIFEST = "sweep.json"
SHARDS = "shards"


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Make the directory and keep others from working on it. Raises `InputError` if that can't be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"cannot write to {directory}", why, "choose another place: --output DIR") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError(f"another command works on {directory}", hint="wait for it, or stop it") from None
    finally:
        os.close(lock)
