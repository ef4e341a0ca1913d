"""The progress of a study, seen from another process: `dumbbell status`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from dumbbell.engines.events import Event, OnEvent
from dumbbell.errors import DumbbellError
from dumbbell.frozen import dataclass
from dumbbell.records.files import is_locked, write_json
from dumbbell.statistics.frames import suspects
from dumbbell.studies import model
from dumbbell.studies.directory import LOCK
from dumbbell.studies.results import Study

PROGRESS: Final = "progress.json"
EVERY_S: Final = 2.0


class Noting:
    """Passes events on, and writes the progress to a file now and then."""

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
    """The state of a study at one time."""

    status: str
    """The state of `Study.state`."""
    done: int
    """Usable runs."""
    runs: int
    """Wanted runs; with `until`, as far as the number is known."""
    suspect: int
    suspicions: Mapping[str, int]
    """Checks that made runs suspect, and the number of runs for each."""
    refused: Mapping[str, int]
    """Reason -> number of unusable runs."""
    ends_at: datetime | None
    """The time at which the study will be done; `None` if no command works on it, or the time is not known yet."""


def status(study: Study) -> Status:
    """Look at the files of a study, which another command may be working on."""
    manifest = study.manifest
    working = is_locked(study.directory / LOCK)
    done, suspect, refused = 0, 0, Counter[str]()
    suspicions: Mapping[str, int] = {}
    if study.has_runs:
        import polars as pl

        rows = study.accounted().filter(pl.col("run") < manifest["runs"]).collect()
        for error, verdict in rows.select("error", "verdict").iter_rows():
            done += error is None
            suspect += error is None and verdict == "suspect"
            if error is not None:
                refused[error] += 1
        suspicions = suspects(rows)
    told: Mapping[str, Any] = {}
    with suppress(DumbbellError):  # There is none yet, or it is damaged: it only says how fast the study is.
        told = model.progress(study.directory / PROGRESS)
    if working and told:
        done = max(done, told["runs"] - told["failed"])
    ends_at = _ends_at(told) if working else None
    return Status(study.state, done, manifest["runs"], suspect, suspicions, dict(refused), ends_at)


def _ends_at(progress: Mapping[str, Any]) -> datetime | None:
    left_s = left(progress)
    with suppress(OverflowError):
        return None if left_s is None else progress["at"] + timedelta(seconds=left_s)
    return None


def left(event: Mapping[str, Any]) -> float | None:
    """Seconds until the last run is done, from a progress event; `None` if not known yet."""
    if event.get("left_s") is not None:
        return float(event["left_s"])
    finished = event.get("runs", 0) - event.get("found", 0)
    if not finished or not event.get("wall_s"):
        return None
    return float((event["of"] - event["runs"]) * event["wall_s"] / finished)
