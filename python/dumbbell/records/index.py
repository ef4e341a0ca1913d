"""List of the runs of large folders, kept in the user's cache until a run changes: 10,000 runs are read once.

Losing the file costs only time. It lies in the user's own cache, since a folder may be a stranger's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from dumbbell import below, inputs, outputs
from dumbbell.documents import LARGEST
from dumbbell.frozen import dataclass
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


Change = tuple[int, int, int]
"""Time (ns), inode and size of a file; zeros if it is missing."""
_MISSING: Final[Change] = (0, 0, 0)
Stamp = tuple[Change, Change, Change]
"""Changes if a run does: its directory, its manifest and its summary."""
UNKNOWN: Final[Stamp] = (_MISSING, _MISSING, _MISSING)
"""The stamp of a run that could not be read."""


class Index:
    """The known runs of a folder."""

    def __init__(self, folder: Path) -> None:
        """Read them; none if there is no index, or it is damaged."""
        self._folder = os.fspath(folder)
        name = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:32]
        self._path = cache.root().with_name("runs") / f"{name}.json"
        self._before: Mapping[str, tuple[Stamp, Known]] = {}
        self._now: dict[str, tuple[Stamp, Known]] = {}
        self._new = 0
        with suppress(OSError, ValidationError), below.confined(None):
            self._before = _ROWS.validate_json(inputs.read(self._path, LARGEST))

    def known(self, name: str) -> Known | None:
        """Returns the content of a run's documents; `None` if the run is new, or has changed."""
        before = self._before.get(name)
        if before is not None and before[0] == stamp(f"{self._folder}/{name}"):
            self._now[name] = before
            return before[1]
        return None

    def add(self, name: str, was: Stamp, known: Known) -> Known:
        """Returns what was found of a run that is not known, and keeps it unless the run goes on.

        `was` is its stamp from before it was read.
        """
        if was != UNKNOWN and known.verdict != "running":
            self._now[name] = was, known
            self._new += 1
        return known

    def write(self) -> None:
        """Keep what was found, if it took long. A full disk, or one that cannot be written to, is no failure."""
        if self._new < WORTH:
            return
        with suppress(OSError), below.confined(None):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            outputs.write(self._path, _ROWS.dump_json(self._now))


def stamp(path: str) -> Stamp:
    """The stamp of the run in a directory, as `core.read_runs` gives it."""
    return _change(path), _change(f"{path}/{MANIFEST}"), _change(f"{path}/{SUMMARY}")


def _change(path: str) -> Change:
    try:
        found = os.stat(path)
    except OSError:
        return _MISSING
    return found.st_mtime_ns, found.st_ino, found.st_size


_ROWS: Final = TypeAdapter(dict[str, tuple[Stamp, Known]])
