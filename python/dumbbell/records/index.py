"""List of the runs of large folders, kept in the user's cache until a run changes: 10,000 runs are read once.

Losing the file costs only time. It lies in the user's own cache, since a folder may be a stranger's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from dumbbell import below, inputs, outputs
from dumbbell.documents import LARGEST
from dumbbell.kernels import cache
from dumbbell.records.model import MANIFEST, SUMMARY

WORTH: Final = 200
"""Runs that must be new in a folder for its index to be written."""


@dataclass(frozen=True, slots=True)
class Known:
    """Content of a run's documents."""

    name: str
    started_at: str
    verdict: str
    overrides: tuple[str, ...]
    tags: tuple[str, ...]
    size: int
    problem: str


Stamp = tuple[int, ...]
"""Changes if a run does: time, inode and size of its directory, its manifest and its summary."""


class Index:
    """The known runs of a folder."""

    def __init__(self, folder: Path) -> None:
        """Read them; none if there is no index, or it is damaged."""
        name = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:32]
        self._path = cache.root().with_name("runs") / f"{name}.json"
        self._before: Mapping[str, tuple[Stamp, Known]] = {}
        self._now: dict[str, tuple[Stamp, Known]] = {}
        self._new = 0
        with suppress(OSError, ValidationError), below.confined(None):
            self._before = _ROWS.validate_json(inputs.read(self._path, LARGEST))

    def known(self, path: Path, read: Callable[[Path], Known]) -> Known:
        """Returns the content of a run's documents, read anew if the run has changed. Runs that go on are not kept."""
        stamp = _stamp(path)
        before = self._before.get(path.name)
        if before is not None and before[0] == stamp:
            self._now[path.name] = before
            return before[1]
        found = read(path)
        if found.verdict != "running":
            self._now[path.name] = stamp, found
            self._new += 1
        return found

    def write(self) -> None:
        """Keep what was found, if it took long. A full disk, or one that cannot be written to, is no failure."""
        if self._new < WORTH:
            return
        with suppress(OSError), below.confined(None):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            outputs.write(self._path, _ROWS.dump_json(self._now))


def _stamp(path: Path) -> Stamp:
    found: list[int] = []
    for name in (path, f"{path}/{MANIFEST}", f"{path}/{SUMMARY}"):
        try:
            one = os.stat(name)
        except OSError:
            found.append(0)
        else:
            found += one.st_mtime_ns, one.st_ino, one.st_size
    return tuple(found)


_ROWS: Final = TypeAdapter(dict[str, tuple[Stamp, Known]])
