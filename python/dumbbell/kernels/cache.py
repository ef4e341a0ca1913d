"""The store of kernels: below the user's cache directory, each folder under the hash of its content.

A folder is filled beside its place, and renamed when it is whole. The process that fills it holds a lock, which ends
with the process whatever ends that. So two builds never collide, and one that was killed leaves no half kernel.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SHORT: Final = 16
"""Digits of a hash in the name of a folder."""


def root() -> Path:
    """The folder of all kernels; it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is to be ignored (XDG Base Directory Specification).
    cache = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return cache / "dumbbell" / "kernels"


def bases() -> Path:
    """Kernels as they were built from source, to which more can be linked."""
    return root() / "bases"


def linked() -> Path:
    """Kernels that can run."""
    return root() / "linked"


def logs() -> Path:
    """Logs of builds."""
    return root() / "logs"


@contextmanager
def making(folder: Path, waits: Callable[[], None]) -> Iterator[Path | None]:
    """Make `folder`, which is published when the context is left without an error.

    Args:
        folder: where it shall be.
        waits: called if somebody else makes it, before it is waited for.

    Yields:
        An empty folder to fill; `None` if somebody else has made it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder, waits):
        _sweep(folder.parent)
        if folder.is_dir():
            yield None
            return
        partial = _partial(folder)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Nobody makes or changes `folder` inside this context."""
    with _lock(folder, lambda: None):
        yield


def discard(folder: Path) -> None:
    """Remove a folder that was published. It is out of the way at once: nobody finds half of it."""
    with holding(folder):
        partial = _partial(folder)
        shutil.rmtree(partial, ignore_errors=True)
        if folder.is_dir():
            folder.rename(partial)
        shutil.rmtree(partial, ignore_errors=True)


def trim(folder: Path, most: int, unused_s: float) -> None:
    """Discard the folders in `folder` that nobody has used for `unused_s`, but for the `most` used last."""
    used = {path: path.stat().st_mtime for path in folder.iterdir() if path.is_dir() and path.name[0] != "."}
    for path in sorted(used, key=lambda one: used[one], reverse=True)[most:]:
        if time.time() - used[path] > unused_s:
            discard(path)


def _partial(folder: Path) -> Path:
    return folder.with_name(f".partial-{folder.name}")


@contextmanager
def _lock(folder: Path, waits: Callable[[], None]) -> Iterator[None]:
    path = folder.with_name(f".lock-{folder.name}")
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waits()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep(folder: Path) -> None:
    """Remove what builds have left that were killed: those whose lock nobody holds."""
    for partial in folder.glob(".partial-*"):
        path = folder / f".lock-{partial.name.removeprefix('.partial-')}"
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(partial, ignore_errors=True)
