"""List of the runs of large folders, kept in the user's cache until a run changes: 10,000 runs are read once.

Losing the file costs only time. It lies in the user's own cache, since a folder may be a stranger's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
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
        self._folder = os.fspath(folder)
        self._stamps: dict[str, Stamp] = {}
        name = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:32]
        self._path = cache.root().with_name("runs") / f"{name}.json"
        self._before: Mapping[str, tuple[Stamp, Known]] = {}
        self._now: dict[str, tuple[Stamp, Known]] = {}
        self._new = 0
        with suppress(OSError, ValidationError), below.confined(None):
            self._before = _ROWS.validate_json(inputs.read(self._path, LARGEST))

    def known(self, name: str) -> Known | None:
        """Returns the content of a run's documents; `None` if the run is new, or has changed."""
        stamp = _stamp(f"{self._folder}/{name}")
        before = self._before.get(name)
        if before is not None and before[0] == stamp:
            self._now[name] = before
            return before[1]
        self._stamps[name] = stamp
        return None

    def add(self, name: str, found: Known) -> Known:
        """Returns what was found of a run that is not known, and keeps it unless the run goes on."""
        if found.verdict != "running":
            self._now[name] = self._stamps[name], found
            self._new += 1
        return found

    def write(self) -> None:
        """Keep what was found, if it took long. A full disk, or one that cannot be written to, is no failure."""
        if self._new < WORTH:
            return
        with suppress(OSError), below.confined(None):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            outputs.write(self._path, _ROWS.dump_json(self._now))


def _stamp(path: str) -> Stamp:
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
