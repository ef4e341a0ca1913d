"""Runs, studies and labs that go on, by scenario of a workspace, whoever has started them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from dumbbell.errors import DumbbellError
from dumbbell.labs import place
from dumbbell.records.directory import PARTIAL, RUNS
from dumbbell.records.files import is_locked, read_json
from dumbbell.server.messages import Going
from dumbbell.studies.directory import LOCK, MANIFEST
from dumbbell.studies.directory import STUDIES as FOLDER

_Known = tuple[int, str | None]
"""The time at which a manifest was changed, in ns, and the scenario that it names if it says that it goes on."""


class Lookout:
    """Looks at a workspace again and again. A manifest is read once, and again when it has changed."""

    def __init__(self, root: Path) -> None:
        """Runs, studies and labs of scenarios in the workspace `root`."""
        self._root = root
        self._known: dict[Path, _Known] = {}
        self._before: dict[Path, _Known] = {}

    def look(self) -> Mapping[str, list[Going]]:
        """Returns what goes on now, by the path of the scenario in the workspace."""
        found: dict[str, list[Going]] = defaultdict(list)
        self._before, self._known = self._known, {}
        for name in _names(self._root / RUNS):
            if name.startswith(PARTIAL):
                source = self._source(self._root / RUNS / name, "manifest.json", "lock")
                if source is not None:
                    found[source].append(Going(kind="run", id=name))
        for name in _names(self._root / FOLDER):
            source = self._source(self._root / FOLDER / name, MANIFEST, LOCK)
            if source is not None:
                found[source].append(Going(kind="study", id=name))
        for lab in place.alive():
            with suppress(ValueError, OSError):
                file = Path(str(place.facts(lab).get("file", "")))
                found[file.relative_to(self._root).as_posix()].append(Going(kind="lab", id=lab.name))
        return found

    def _source(self, folder: Path, manifest: str, lock: str) -> str | None:
        """The scenario of a run or a study that goes on; `None` of any other."""
        path = folder / manifest
        # Nothing is read of what a stranger left: only a process of this machine can hold the lock.
        if not is_locked(folder / lock):
            return None
        try:
            stamp = path.stat().st_mtime_ns
        except OSError:
            return None
        known = self._before.get(folder)
        if known is None or known[0] != stamp:
            source = None
            with suppress(DumbbellError):
                said = read_json(path)
                if said.get("status") == "running" and isinstance(said.get("scenario_source"), str):
                    source = os.path.normpath(said["scenario_source"])
            known = stamp, source
        self._known[folder] = known
        return known[1]


def _names(folder: Path) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from sorted(entry.name for entry in entries)
