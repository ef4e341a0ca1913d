"""The table of runs: search, order, groups, rows, tags; and removing runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Final

from fastapi import APIRouter

from dumbbell import below
from dumbbell.records import kept
from dumbbell.records.directory import PARTIAL, RUNS
from dumbbell.records.index import UNKNOWN, Stamp, stamp
from dumbbell.records.model import MANIFEST
from dumbbell.server import run_places
from dumbbell.server.run_columns import columns, place, told_by
from dumbbell.server.run_messages import AskRows, AskTable, RemoveRuns, RunGroup, RunRow, RunRows, RunTable, TagRuns
from dumbbell.server.run_rows import Row, read

PATIENCE_S: Final = 0.4
"""Time after which a table is given without the runs that are not read yet. The next request goes on with them."""
LATER: Final = 5
"""Times as much time has a request that goes on: somebody sees the first runs already."""
AT_LEAST: Final = 250
"""Runs that a request reads in any case."""


class Listing:
    """The runs of a workspace. What was read is kept until it changes: 10,000 runs are read once."""

    def __init__(self, root: Path, patience_s: float = PATIENCE_S) -> None:
        """Runs in the workspace `root`, of which a request reads new ones for about `patience_s`."""
        self._folder, self._patience_s = root / RUNS, patience_s
        self._known: dict[str, tuple[Stamp, Row]] = {}
        self._told_by: dict[str, tuple[str, ...]] | None = None
        self._reading = Lock()

    def table(self, asked: AskTable) -> RunTable:
        """The runs that match, in the order that is asked for."""
        rows, unread = self._rows([name for _, name in sorted(self._begun(), reverse=True)])
        matching = [one for one in rows if _matches(one, asked)]
        every, chosen = columns(matching)
        there = {one.key for one in every}
        shown = chosen if asked.columns is None else [key for key in asked.columns if key in there]
        ordered = _sorted(matching, asked.sort, asked.descending)
        groups = _grouped(ordered, asked.group) if asked.group else []
        if groups:
            ordered = [row for _, members in groups for row in members]
        return RunTable(
            ids=[one.id for one in ordered],
            total=len(rows),
            groups=[_group(value, members, shown) for value, members in groups],
            columns=every,
            shown=shown,
            rows=self._messages(ordered[: asked.rows], shown),
            tags=sorted({tag for one in rows for tag in one.tags}),
            unread=unread,
            running=sum(one.verdict == "running" for one in ordered),
        )

    def rows(self, asked: AskRows) -> RunRows:
        """Some rows of the table."""
        there = [name for name in asked.ids if name in self._known]
        return RunRows(rows=self._messages(self._rows(there, is_all=False)[0], asked.columns))

    def _messages(self, rows: Sequence[Row], shown: list[str]) -> list[RunRow]:
        with self._reading:
            if self._told_by is None:
                self._told_by = told_by(one for _, one in self._known.values())
            known = self._told_by
        return [one.message(shown, known.get(one.name, ())) for one in rows]

    def _rows(self, names: Sequence[str], is_all: bool = True) -> tuple[list[Row], int]:
        """The runs that are called `names`, and how many are not read yet. Two requests at once read each run once."""
        with self._reading:
            changed = [name for name in names if self._is_changed(name)]
            until = time.monotonic() + self._patience_s * (LATER if self._known else 1)
            unread = 0
            with kept.documents(self._folder, changed) as found:
                for number, (path, one) in enumerate(found, 1):
                    self._known[path.name] = one[3], read(path, one)
                    if one[3] == UNKNOWN and not path.exists():  # It was removed meanwhile.
                        del self._known[path.name]
                    if number % AT_LEAST == 0 and time.monotonic() > until:
                        unread = len(changed) - number
                        break
            gone = self._known.keys() - set(names) if is_all else ()
            for name in gone:
                del self._known[name]
            if changed or gone:
                self._told_by = None
            return [self._known[name][1] for name in names if name in self._known], unread

    def _is_changed(self, name: str) -> bool:
        known = self._known.get(name)
        # A run that goes on ends without a change of its files if it is killed.
        return known is None or known[1].verdict == "running" or known[0] != stamp(f"{self._folder}/{name}")

    def _begun(self) -> Iterator[tuple[int, str]]:
        """When each run's scenario was written, which is at its start. One look at each: there are many."""
        if below.leads_out(self._folder):
            return
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self._folder) as found:
            for one in found:
                if one.name.startswith(".") and not one.name.startswith(PARTIAL):
                    continue
                try:
                    yield os.stat(f"{one.path}/scenario.toml").st_mtime_ns, one.name
                except OSError:
                    with suppress(OSError):  # It failed before that, or is no run.
                        yield os.stat(f"{one.path}/{MANIFEST}").st_mtime_ns, one.name


def router(root: Path) -> APIRouter:
    """The routes of the list of runs in the workspace `root`."""
    made = APIRouter(prefix="/api/runs")
    listing = Listing(root)

    @made.post("/table")
    def table(asked: AskTable) -> RunTable:
        """The runs that match, and the first rows."""
        return listing.table(asked)

    @made.post("/rows")
    def rows(asked: AskRows) -> RunRows:
        """Further rows."""
        return listing.rows(asked)

    @made.post("/tags")
    def tags(asked: TagRuns) -> dict[str, int]:
        """Give runs a tag, or take it away."""
        for run in asked.ids:
            kept.tag(run_places.find(root, run), [asked.tag], asked.remove)
        return {"runs": len(asked.ids)}

    @made.post("/remove")
    def remove(asked: RemoveRuns) -> dict[str, int]:
        """Remove runs with all their records."""
        found = [run_places.find(root, run) for run in asked.ids]
        for path in found:
            kept.remove(kept.look(path))
        return {"runs": len(found)}

    return made


def _matches(row: Row, asked: AskTable) -> bool:
    if asked.tag and asked.tag not in row.tags:
        return False
    if asked.verdict and row.verdict != asked.verdict:
        return False
    return all(word in row.text for word in asked.search.lower().split())


def _sorted(rows: list[Row], key: str, descending: bool) -> list[Row]:
    """Rows by the value of a column; those without one come last in either order."""
    if not key:
        return rows
    with_value = [(place(value), row) for row in rows if (value := row.value(key)) is not None]
    with_value.sort(key=itemgetter(0), reverse=descending)
    return [row for _, row in with_value] + [row for row in rows if row.value(key) is None]


def _grouped(rows: Sequence[Row], key: str) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.value(key) or ""), []).append(row)
    return sorted(groups.items(), key=lambda one: (not one[0], place(one[0])))


def _group(value: str, rows: Sequence[Row], shown: Sequence[str]) -> RunGroup:
    return RunGroup(value=value, runs=len(rows), cells=[_common([row.value(key) for row in rows]) for key in shown])


def _common(values: Sequence[str | float | None]) -> str | float | None:
    numbers = [one for one in values if isinstance(one, float)]
    if numbers:
        return fmean(numbers)
    return values[0] if len(set(values)) == 1 else None
