"""How far a study is, for who looks at it from outside: `dumbbell status`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from dumbbell.engines.protocol import Event, OnEvent
from dumbbell.records.files import is_locked, read_json, write_json
from dumbbell.statistics.frames import suspects
from dumbbell.studies.directory import LOCK
from dumbbell.studies.results import Study

PROGRESS: Final = "progress.json"
EVERY_S: Final = 2.0
RUNNING, COMPLETE, INTERRUPTED, KILLED = "running", "complete", "interrupted", "killed"
"""What a study may be; killed: nobody works on it, though it is neither complete nor was it stopped."""


class Noting:
    """Passes events on, and writes down now and then how far all is."""

    def __init__(self, path: Path, on_event: OnEvent) -> None:
        self._path, self._on_event, self._next = path / PROGRESS, on_event, 0.0

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "progress":
            last = event["runs"] == event["of"]
            if last or time.monotonic() >= self._next:
                self._next = time.monotonic() + EVERY_S
                write_json(self._path, {**event, "at": datetime.now().isoformat(timespec="seconds")})
        self._on_event(event)


@dataclass(frozen=True)
class Status:
    """Of a study, at one time."""

    status: str
    """One of the four above."""
    done: int
    """Runs that can be used."""
    runs: int
    """That are wanted; where repetitions have no number, as far as it is known."""
    suspect: int
    suspicions: Mapping[str, int]
    """Checks for which they are, and how many for each."""
    refused: Mapping[str, int]
    """Why runs can't be used, and how many."""
    ends_at: datetime | None
    """When it will be through; `None` if nobody works on it, or it can't be told yet."""


def status(study: Study) -> Status:
    """Look at the files of a study, which another command may be working on."""
    manifest = study.manifest
    said = str(manifest["status"])
    working = is_locked(study.directory / LOCK)
    if said == RUNNING and not working:
        said = KILLED
    done, suspect, refused = 0, 0, Counter[str]()
    suspicions: Mapping[str, int] = {}
    if study.has_runs:
        for error, verdict in study.runs.select("error", "verdict").iter_rows():
            done += error is None
            suspect += error is None and verdict == "suspect"
            if error is not None:
                refused[error] += 1
        suspicions = suspects(study.runs)
    path = study.directory / PROGRESS
    told = read_json(path) if path.exists() else {}
    if working and told:
        done = max(done, told["runs"] - told["failed"])
    ends_at = _ends_at(told) if working else None
    return Status(said, done, manifest["runs"], suspect, suspicions, dict(refused), ends_at)


def _ends_at(told: Mapping[str, Any]) -> datetime | None:
    left_s = left(told)
    return None if left_s is None else datetime.fromisoformat(told["at"]) + timedelta(seconds=left_s)


def left(event: Mapping[str, Any]) -> float | None:
    """Seconds until the last run is through, from a progress event; `None` if that can't be told yet."""
    if event.get("left_s") is not None:
        return float(event["left_s"])
    finished = event.get("runs", 0) - event.get("found", 0)
    if not finished or not event.get("wall_s"):
        return None
    return float((event["of"] - event["runs"]) * event["wall_s"] / finished)
