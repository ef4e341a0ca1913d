"""The topic `run/ID`: what a run tells while it goes on, from its `events.jsonl`, and where it stands.

Whoever comes later, or back, gets what was said before from the file; so the run and other browsers wait for nobody.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic_core import from_json

from dumbbell.analysis.so_far import SoFar
from dumbbell.engines.events import Event
from dumbbell.errors import DumbbellError
from dumbbell.records import Run
from dumbbell.records.directory import RUNS
from dumbbell.records.files import is_locked
from dumbbell.records.progress import FILE
from dumbbell.server import run_places
from dumbbell.server.children import Children
from dumbbell.server.run_messages import RunReplay, RunState

LOOK_S: Final = 0.05
"""The interval of looks at the file."""
REPORT_S: Final = 120.0
MOST_PROGRESS: Final = 1200
"""Events of progress in a replay: of more, every n-th is sent. Two minutes at ten a second."""
MOST_OTHERS: Final = 1000
"""Events of other kinds in a replay. A run has a few, and one for each change of a link."""
READ_BYTES: Final = 1 << 22


class Tail:
    """The lines of a file that grows, from the first one on."""

    def __init__(self, folder: Path) -> None:
        """The events of the run in `folder`, which may be renamed meanwhile."""
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._file: int | None = None
        self._partial = b""
        self.number = 0
        """The number of the next line."""

    def close(self) -> None:
        """Close it."""
        os.close(self._folder)
        if self._file is not None:
            os.close(self._file)

    @property
    def path(self) -> Path:
        """Where the directory is now."""
        return Path(os.readlink(f"/proc/self/fd/{self._folder}"))

    def lines(self) -> list[bytes]:
        """The lines that came since the last call; of a lot of them, the first ones."""
        if self._file is None:
            with suppress(FileNotFoundError):
                self._file = os.open(
                    FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._folder
                )
        if self._file is None:
            return []
        *whole, self._partial = (self._partial + os.read(self._file, READ_BYTES)).split(b"\n")
        self.number += len(whole)
        return whole


class Live:
    """The source of topics `run/ID`."""

    def __init__(self, root: Path, children: Children) -> None:
        """Runs in the workspace `root`."""
        self._root, self._children = root, children

    async def __call__(self, path: str, since: int | None) -> AsyncGenerator[Event, None]:
        """The run's state, its events from number `since` on (0 by default), and its state whenever that changes."""
        run_places.checked(path)
        async for state in self._begin(path):
            yield state.model_dump()
            if state.status != "starting":
                return
        tail = Tail(run_places.find(self._root, path))
        try:
            state = run_places.standing(tail.path)
            yield state.model_dump()
            wanted = since or 0
            judged = Judged(tail.path)
            while True:
                # A stranger's file may have a million lines in a few bytes each: they make nobody else wait.
                lines, going_on, events = await asyncio.to_thread(_new, tail, judged, wanted)
                for event in events:
                    yield event
                if not lines and not going_on:
                    break
                await asyncio.sleep(0 if lines > MOST_PROGRESS else LOOK_S)
            if state.status == "running":
                yield run_places.standing(tail.path).model_dump()
            async for state in self._until_reported(path, tail.path):
                yield state.model_dump()
        finally:
            tail.close()

    async def _begin(self, run: str) -> AsyncGenerator[RunState, None]:
        """Wait until a run that was just started has a directory; or say why it has none."""
        pid = run_places.pid_of(run)
        child = None if pid is None else self._children.get(pid)
        # It is written once the run holds its lock, at which others must not look before.
        begun = self._root / RUNS / run / "manifest.json"
        if child is None or begun.exists():
            return
        if child.code is None:
            yield RunState(status="starting", id=run)
        while child.code is None and not begun.exists():
            await asyncio.sleep(LOOK_S)
        if child.code not in (None, 0) and not self._has_ended_run(run):
            yield RunState(status="failed", id=run, problem=child.problem())

    def _has_ended_run(self, run: str) -> bool:
        with suppress(Exception):
            run_places.find(self._root, run)
            return True
        return False

    async def _until_reported(self, run: str, path: Path) -> AsyncGenerator[RunState, None]:
        """Wait for the report, which is written last."""
        state = run_places.standing(path)
        pid = run_places.pid_of(run)
        child = None if pid is None else self._children.get(pid)
        if state.status != "complete" or state.report or child is None:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(child.ended.wait(), REPORT_S)
        yield run_places.standing(path)


class Judged:
    """Adds the verdict so far, `so_far`, to events of progress."""

    def __init__(self, path: Path) -> None:
        """Follows the run in this directory."""
        self._path = path
        self._judge: SoFar | None = None
        self._is_known = False

    def __call__(self, event: Event) -> Event:
        """The event with the verdict; of a replay, the last one alone."""
        if event.get("event") == "replay":
            events = event["events"]
            last = max((i for i, one in enumerate(events) if one.get("event") == "progress"), default=None)
            if last is not None:
                events[last] = self(events[last])
            return event
        health = event.get("health") if event.get("event") == "progress" else None
        if not health:
            return event
        judge = self._find()
        if judge is None or not judge.applies:
            return event
        try:
            verdict, checks = judge.judge(health)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # A stranger's may be anything.
            return event
        return {**event, "so_far": {"verdict": str(verdict), "reasons": [check.as_json() for check in checks]}}

    def _find(self) -> SoFar | None:
        """Once for each topic: the plan does not change what may be late."""
        if not self._is_known:
            self._is_known = True
            with suppress(DumbbellError, KeyError):
                run = Run(self._path, incomplete=True)
                self._judge = SoFar(run.plan, run.engine)
        return self._judge


def _new(tail: Tail, judged: Judged, wanted: int) -> tuple[int, bool, list[Event]]:
    """How many lines came, whether the run went on before that, and their events from number `wanted` on."""
    going_on, first = is_locked(tail.path / "lock"), tail.number
    lines = tail.lines()
    return len(lines), going_on, [judged(event) for event in parsed(lines, first, wanted)]


def parsed(lines: list[bytes], first: int, wanted: int) -> Iterator[Event]:
    """The events on these lines, of which the first has the number `first`: one by one, or many as a replay."""
    numbered = [(number, line) for number, line in enumerate(lines, first) if number >= wanted]
    events = [event for number, line in numbered if (event := _parsed(line, number)) is not None]
    if len(events) <= 2:
        yield from events
    else:
        yield RunReplay(n=numbered[-1][0], events=thinned(events)).model_dump()


def thinned(events: list[dict[str, object]]) -> list[dict[str, object]]:
    """All events, but of much progress only every n-th, and the last; and the first `MOST_OTHERS` others."""
    progress = sum(event.get("event") == "progress" for event in events)
    step = max(1, -(-progress // MOST_PROGRESS))
    if step == 1 and len(events) - progress <= MOST_OTHERS:
        return events
    kept, count, others = [], 0, 0
    for index, event in enumerate(events):
        if event.get("event") == "progress":
            count += 1
            if count % step and index < len(events) - 1:
                continue
        else:
            others += 1
            if others > MOST_OTHERS:
                continue
        kept.append(event)
    return kept


def _parsed(line: bytes, number: int) -> dict[str, object] | None:
    with suppress(ValueError):  # One that is nested too deeply is none, too.
        found = from_json(line)
        # A replay is ours alone.
        if isinstance(found, dict) and isinstance(found.get("event"), str) and found["event"] != "replay":
            return {**found, "n": number}
    return None
