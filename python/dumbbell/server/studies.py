"""Studies: start one, follow its progress, stop it, go on with it, read its page."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from dumbbell.command import command
from dumbbell.engines.events import Event
from dumbbell.engines.registry import DEFAULT, option
from dumbbell.errors import DumbbellError, InputError, ScenarioError
from dumbbell.records.files import is_locked, read_json
from dumbbell.records.kept import DAMAGED
from dumbbell.report.study import write
from dumbbell.scenario.file.loading import read
from dumbbell.server import run_places
from dumbbell.server.children import Children, stop_holder
from dumbbell.server.run_messages import Started, Stop, StudyEntry, StudyState
from dumbbell.studies import Study
from dumbbell.studies.directory import LOCK, MANIFEST
from dumbbell.studies.directory import STUDIES as FOLDER
from dumbbell.studies.programs import programs
from dumbbell.studies.status import status

LOOK_S: Final = 0.5


def router(root: Path, children: Children) -> APIRouter:
    """The routes of studies in the workspace `root`."""
    made = APIRouter(prefix="/api/studies")

    @made.get("")
    def every() -> list[StudyEntry]:
        """All studies, the latest first."""
        found = [one for path in (root / FOLDER).glob("*") if (one := _entry(path)) is not None]
        return sorted(found, key=lambda one: one.started_at, reverse=True)

    @made.get("/{study}")
    def study_state(study: str) -> StudyState:
        """Where a study stands."""
        return standing(find(root, study))

    @made.post("/{study}/stop")
    def stop(study: str, asked: Stop) -> dict[str, bool]:
        """Stop a study. Finished runs are kept, and `resume` goes on from there."""
        path = find(root, study)
        stop_holder(path / LOCK, asked.how, None, f"the study {study}")
        return {"stopping": True}

    @made.post("/{study}/resume")
    async def resume(study: str, request: Request) -> Started:
        """Go on with a study that was stopped, or was killed."""
        path = find(root, study)
        if is_locked(path / LOCK):
            raise InputError(f"the study {study} goes on already", "a command works on it", "wait for it, or stop it")
        arguments = await run_in_threadpool(_again, root, path)
        documents = getattr(request.app.state, "documents", None)
        agreed = None
        if documents is not None:
            # Its text is none of the workspace's scenarios, and the folder may be a stranger's.
            agreed = await run_in_threadpool(_programs, root, path)
            documents.ask_about(f"the study {study}", agreed)
        return await begin(children, arguments, agreed)

    @made.get("/{study}/report.html")
    def report(study: str) -> FileResponse:
        """The page, which is written now if there is none yet."""
        path = find(root, study)
        page = path / "report.html"
        if not page.exists():
            _write_report(Study(path))
        return run_places.GivenFile(page, "text/html")

    return made


async def begin(children: Children, arguments: Sequence[str], agreed: Sequence[str] | None) -> Started:
    """Start a command that carries out a study, and wait until it knows the study's directory.

    `agreed`: as `Children.start`.
    """
    # Once nobody reads its events any more it writes none, and goes on.
    ours, its = os.pipe()
    with os.fdopen(ours, encoding="utf-8") as events:
        try:
            child = await children.start([*arguments, "--json", "--events", f"/dev/fd/{its}"], agreed, pass_fds=(its,))
        finally:
            os.close(its)
        study = await run_in_threadpool(_named, events)
    if study is None:
        await child.ended.wait()
        what, _, why = child.problem().partition("\n")
        raise InputError(what or "the study did not begin", why)
    return Started(kind="study", id=study, command=command(*arguments), beside=0)


def _named(events: TextIO) -> str | None:
    """The name of a study's directory, as soon as its command tells it; `None` if it ends before that."""
    for line in events:
        with suppress(ValueError):
            event = json.loads(line)
            if event.get("event") == "planned":
                return Path(event["directory"]).name
    return None


class Topic:
    """The source of topics `study/ID`."""

    def __init__(self, root: Path, children: Children) -> None:
        """Studies in the workspace `root`."""
        self._root, self._children = root, children

    async def __call__(self, path: str, since: int | None) -> AsyncGenerator[Event, None]:
        """The study's state, at once and whenever it changes."""
        folder = find(self._root, path)
        last: dict[str, object] | None = None
        while True:
            now = (await run_in_threadpool(standing, folder)).model_dump()
            if now != last:
                yield now
                last = now
            await asyncio.sleep(LOOK_S if now["status"] == "running" else 4 * LOOK_S)


def find(root: Path, study: str) -> Path:
    """The directory of a study. Raises 404."""
    run_places.checked(study)
    path = root / FOLDER / study
    if not (path / MANIFEST).exists():
        raise run_places.absent("study", study)
    return run_places.sound(root, path)


def standing(path: Path) -> StudyState:
    """Where a study stands."""
    study = Study(path)
    told, manifest = status(study), study.manifest
    source, engine = manifest.get("scenario_source"), str(manifest.get("engine", DEFAULT))
    return StudyState(
        id=path.name,
        name=str(manifest.get("name", path.name)),
        engine=engine,
        status=told.status,
        started_at=str(manifest.get("started_at", "")),
        done=told.done,
        runs=told.runs,
        suspect=told.suspect,
        suspicions=dict(told.suspicions),
        refused=dict(told.refused),
        ends_at=None if told.ends_at is None else told.ends_at.isoformat(timespec="seconds"),
        cells=len(manifest.get("cells", ())),
        varied=_varied(manifest.get("cells", ())),
        expectations=[dict(one) for one in manifest.get("expectations", ())],
        report=(path / "report.html").exists(),
        command=command("run", f"{FOLDER}/{path.name}/scenario.toml", *option(engine)),
        scenario_source=source,
    )


def _varied(cells: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(key for cell in cells for key in cell))


def _entry(path: Path) -> StudyEntry | None:
    if not (path / MANIFEST).exists():
        return None
    problem = ""
    try:
        study = Study(path)
        manifest, state = study.manifest, study.state
    except DumbbellError as error:
        manifest, problem, state = {}, error.line, DAMAGED
    return StudyEntry(
        id=path.name,
        name=str(manifest.get("name", path.name)),
        engine=str(manifest.get("engine", "")),
        status=state,
        started_at=str(manifest.get("started_at", "")),
        runs=manifest.get("runs", 0),
        varied=_varied(manifest.get("cells", ())),
        scenario_source=manifest.get("scenario_source"),
        problem=problem,
    )


def _write_report(study: Study) -> None:
    """Write the report of a study, which may be a stranger's, from what is there: no run is carried out."""

    def over_time(format: str) -> bytes | None:
        try:
            return study.over_time(format, again=False)
        except InputError:
            return None

    write(study, "html", over_time=over_time)


def _programs(root: Path, path: Path) -> tuple[str, ...]:
    """Returns the programs that a study runs on this machine. Raises `ScenarioError` if nobody knows."""
    try:
        return programs(read(path / "scenario.toml"))
    except ScenarioError as error:
        raise run_places.as_in(root, error) from None


def _again(root: Path, path: Path) -> list[str]:
    """The arguments that go on with a study: its own scenario has all that the command line had changed."""
    # Not checked: the command writes a damaged manifest anew.
    engine = read_json(path / MANIFEST).get("engine")
    named = option(engine) if isinstance(engine, str) else []
    return ["run", f"{FOLDER}/{path.name}/scenario.toml", *named]
