"""Runs: start one, look at one, stop it, read its report."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from dumbbell import inputs
from dumbbell.command import command
from dumbbell.engines.registry import DEFAULT, capabilities, option
from dumbbell.engines.registry import engine as engine_of
from dumbbell.errors import DumbbellError, InputError, ScenarioError
from dumbbell.pipeline.planned import planned
from dumbbell.pipeline.results import Run
from dumbbell.plan.identity import run_id
from dumbbell.records import manifest as manifests
from dumbbell.records.directory import PARTIAL, RUNS
from dumbbell.records.kept import state
from dumbbell.records.progress import FILE
from dumbbell.scenario import load
from dumbbell.scenario.file.loading import LARGEST, read
from dumbbell.scenario.file.started import only
from dumbbell.server import run_places, studies
from dumbbell.server.children import Children, stop_holder
from dumbbell.server.legend import legend
from dumbbell.server.run_messages import RunDetail, Started, StartRun, Stop
from dumbbell.studies.cells import is_study, varied
from dumbbell.studies.directory import STUDIES


def router(root: Path, children: Children) -> APIRouter:
    """The routes of runs in the workspace `root`."""
    made = APIRouter(prefix="/api/runs")

    @made.post("")
    async def start(asked: StartRun, request: Request) -> Started:
        """Start a run, or a study. What is wrong with the scenario is answered as the command line says it."""
        documents = getattr(request.app.state, "documents", None)
        agreed = None if documents is None else await documents.ready_to_run(asked.path, asked.overrides)
        try:
            with only(agreed):
                found = await run_in_threadpool(_begun, root, asked)
        except ScenarioError as error:
            raise run_places.as_in(root, error) from None
        if isinstance(found, list):
            return await studies.begin(children, found, agreed)
        arguments, stem, beside = found
        child = await children.start([*arguments, "--keep-events", "--json"], agreed)
        told = command(*arguments)
        return Started(kind="run", id=run_places.partial(stem, child.pid), command=told, beside=beside)

    @made.get("/{run}")
    def detail(run: str) -> RunDetail:
        """All about a run, but its tables."""
        return _detail(root, run_places.find(root, run))

    @made.post("/{run}/stop")
    def stop(run: str, asked: Stop) -> dict[str, bool]:
        """Stop a run early, or end it at once."""
        path = run_places.find(root, run)
        pid = run_places.pid_of(path.name)
        stop_holder(path / "lock", asked.how, None if pid is None else [pid], f"the run {path.name}")
        return {"stopping": True}

    @made.get("/{run}/report.html")
    def report(run: str) -> FileResponse:
        """The report, which is written now if there is none yet."""
        path = run_places.find(root, run)
        if path.name.startswith(PARTIAL):
            raise InputError("there is no report yet", "the run goes on", "it comes as the run ends")
        page = path / "report.html"
        if not page.exists():
            Run(path, incomplete=True).report()
        return run_places.GivenFile(page, "text/html")

    @made.get("/{run}/files/{name}")
    def file(run: str, name: str) -> FileResponse:
        """A file of a run, to be kept."""
        folder = run_places.find(root, run)
        if "/" in name or name in (".", ".."):
            raise run_places.absent("file", name)
        return run_places.GivenFile(folder / name, "application/octet-stream", name)

    return made


def _begun(root: Path, asked: StartRun) -> list[str] | tuple[list[str], str, int]:
    """The command's arguments, the name of the run's directory, and how many runs go on; of a study, arguments alone.

    Raises `InputError` with what is wrong: nothing is started then.
    """
    path = run_places.scenario(root, asked.path)
    run_places.check_writable(root, RUNS, STUDIES)
    engine = engine_of(asked.engine or DEFAULT)
    name = engine.capabilities.name
    sets = [word for text in asked.overrides for word in ("--set", text)]
    many = [] if asked.repeat is None else ["--repeat", str(asked.repeat)]
    arguments = ["run", run_places.argument(asked.path), *sets, *many, *option(name)]
    if is_study(varied(read(path, asked.overrides), None, asked.repeat)):
        return arguments
    scenario = load(path, asked.overrides)
    plan = planned(engine, scenario)
    if problems := engine.check(scenario, plan):
        raise ScenarioError(problems)
    identity = run_id(plan, name, manifests.core_version() or "none")
    return arguments, f"{scenario.name}-{identity}", _beside(root) if engine.capabilities.real_time else 0


def _beside(root: Path) -> int:
    """The number of runs in real time that go on."""
    going_on = (state(path) for path in (root / RUNS).glob(f"{PARTIAL}*"))
    return sum(run.verdict == "running" and _real_time(str(run.manifest.get("engine", DEFAULT))) for run in going_on)


def _detail(root: Path, path: Path) -> RunDetail:
    run = state(path)
    manifest, summary = run.manifest, run.summary
    standing = run_places.standing(path)
    engine = str(manifest.get("engine", DEFAULT))
    known = None
    with suppress(DumbbellError):  # It failed before it had a plan.
        known = legend(path)
    text, source = "", manifest.get("scenario_source")
    with suppress(OSError, UnicodeDecodeError):
        text = inputs.read_text(path / "scenario.toml", LARGEST)
    overrides = list(manifest.get("overrides") or ())
    return RunDetail(
        id=path.name,
        name=str(manifest.get("name", path.name)),
        run_id=str(manifest.get("run_id", "")),
        engine=engine,
        real_time=_real_time(engine),
        status=standing.status,
        verdict=standing.verdict,
        reasons=standing.reasons,
        problem=standing.problem,
        started_at=str(manifest.get("started_at", "")),
        wall_s=manifest.get("wall_s"),
        scenario_source=source,
        overrides=overrides,
        tags=list(manifest.get("tags", ())),
        command=_command(root, path, source, overrides, engine),
        text=text,
        legend=known,
        summary=dict(summary) or None,
        directory=str(path.relative_to(root)),
        files=sorted(one.name for one in path.iterdir() if one.is_file() and _is_shown(one.name)),
        events=_events(path),
    )


def _command(root: Path, path: Path, source: str | None, overrides: list[str], engine: str) -> str:
    """The command that repeats a run: of the file that it was of, if that is still there, or else of its own copy."""
    sets = [word for text in overrides for word in ("--set", text)]
    if source is not None and (root / source).is_file():
        return command("run", source, *sets, *option(engine))
    return command("run", str(path.relative_to(root) / "scenario.toml"), *option(engine))


def _real_time(engine: str) -> bool:
    with suppress(DumbbellError):
        return capabilities(engine).real_time
    return False


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name.isprintable()


_MOST_EVENTS_MIB: Final = 64
"""MiB of a file of events in which they are counted."""


def _events(path: Path) -> int:
    with suppress(OSError), open(inputs.opened(path / FILE), "rb") as file:
        parts = iter(partial(file.read, 1 << 20), b"")
        return sum(part.count(b"\n") for part in islice(parts, _MOST_EVENTS_MIB))
    return 0
