"""A scenario, once or as a study: `dumbbell.run`."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from dumbbell.engines import names
from dumbbell.engines.protocol import Engine, Event, OnEvent
from dumbbell.engines.registry import engine as engine_of
from dumbbell.engines.run import run as run_once
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.errors import Interrupted, ScenarioError
from dumbbell.plan.identity import canonical
from dumbbell.records import manifest as manifests
from dumbbell.records.files import read_json, write_json
from dumbbell.scenario import Scenario, writing
from dumbbell.scenario.loading import Draft, checked, read
from dumbbell.scenario.source import dotted, lookup, show
from dumbbell.studies import cells as grid
from dumbbell.studies import directory as places
from dumbbell.studies import simulated
from dumbbell.studies.check import check
from dumbbell.studies.expectations import judge
from dumbbell.studies.planning import Planned, Planner
from dumbbell.studies.repeating import more
from dumbbell.studies.results import Study
from dumbbell.studies.schedule import Schedule

if TYPE_CHECKING:
    from dumbbell.records.run import Run
    from dumbbell.scenario.overrides import Overrides

Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario


@overload
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    engine: str | Engine = names.DEFAULT,
    report: bool = True,
    *,
    vary: grid.Vary | Iterable[str],
    repeat: int | None = None,
    jobs: int | None = None,
) -> Study: ...
@overload
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    engine: str | Engine = names.DEFAULT,
    report: bool = True,
    *,
    repeat: int,
    jobs: int | None = None,
) -> Study: ...
@overload
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    engine: str | Engine = names.DEFAULT,
    report: bool = True,
    *,
    jobs: int | None = None,
) -> Run | Study: ...
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    engine: str | Engine = names.DEFAULT,
    report: bool = True,
    *,
    vary: grid.Vary | Iterable[str] | None = None,
    repeat: int | None = None,
    jobs: int | None = None,
) -> Run | Study:
    """Carry out a scenario, judge the result, and write its report; or all runs of a study, and keep their figures.

    A scenario with `[sweep]`, `repeat` or `[[expect]]` is a study, and so is one with `vary` or `repeat` here. The same
    study again does what is not done yet, which may be nothing; with a larger `repeat` it adds runs.

    Args:
        scenario: a bundled scenario's name, a file, a dict of the same shape, or a `Scenario`.
        overrides: `{"duration": "10 s"}`, or texts as after `--set`: `["duration=10 s"]`.
        directory: where runs (`runs`) or studies (`studies`) are kept; this one becomes `directory/<name>-<id>`. An
            earlier run of the same plan is moved to `<name>-<id>.1`, `.2`, ...; nothing is overwritten.
        on_event: told of each event while it goes on, for showing progress.
        engine: what carries it out: `emulate`, real Linux TCP; `simulate`, a model of it; or an engine of your own.
        report: write a run's report now. It takes time and room; `Run.report` makes up for it at any time.
        vary: a list or range of values for each key, such as `{"flows.0.cc": ["cubic", "bbr"]}`: each combination is a
            cell. Or a list of cells, dicts from key to value. Added to what the scenario's `[sweep]` varies.
        repeat: runs of each cell, instead of the scenario's, with its seed and those after it.
        jobs: runs at a time; by default as many as the machine can do well.

    Returns:
        The finished `Run`; it may be suspect or invalid: ask `run.verdict`. Or the finished `Study`.

    Raises:
        InputError: the scenario, a cell, the engine, or this machine, does not allow it; nothing was started.
        RunFailed: a run failed. What was measured is kept in `<name>-<id>.failed-N`. In a study it is a row.
        Interrupted: Ctrl-C; kept likewise. A study that is run again goes on where it was.
    """
    overrides = overrides if isinstance(overrides, Mapping | str) else list(overrides)
    draft = read(scenario, overrides)
    if vary is None and repeat is None and not grid.is_study(draft):
        return run_once(scenario, overrides, directory or "runs", on_event, engine, report)
    draft = grid.varied(draft, vary, repeat)
    return run_study(draft, engine_of(engine), Path(directory or places.STUDIES), jobs, on_event or _ignore)


def run_study(draft: Draft, engine: Engine, root: Path, jobs: int | None, on_event: OnEvent) -> Study:
    """Carry out what is missing of a study. Raises as `run`."""
    began = time.monotonic()
    base = checked(draft)
    cells = grid.cells(base.sweep)
    problems = [base.source.problem(finding) for finding in check(base, cells)]
    if problems:
        raise ScenarioError(problems)
    jobs = jobs or len(os.sched_getaffinity(0))
    plans = _plans(draft, base, cells, engine, jobs, on_event)
    identity = _identity(plans)
    path = root / f"{base.name}-{identity}"
    manifest = manifests.at_start(base.name, identity, engine.name, draft.name if draft.text else None, _said(draft))
    manifest |= {"study_id": identity, "cells": cells, "repeat": base.repeat.model_dump(mode="json"), "threads": jobs}
    manifest["planning_s"] = round(time.monotonic() - began, 3)
    with places.locked(path):
        writing.write(base, path)
        return _carry_out(base, plans, path, manifest, on_event)


def _carry_out(
    base: Scenario, plans: Sequence[Planned], path: Path, manifest: dict[str, Any], on_event: OnEvent
) -> Study:
    schedule = _schedule(path, len(plans))
    done = [base.repeat.least] * len(plans)
    while True:
        runs = schedule.want(dict(enumerate(done)))
        manifest |= {"rounds": schedule.rounds, "repetitions": max(done), "runs": sum(done)}
        write_json(path / places.MANIFEST, manifest)
        on_event({"event": "planned", "runs": len(runs), "cells": len(plans), "directory": str(path)})
        last = simulated.carry_out(plans, runs, path, manifest["threads"], on_event)
        cost = {key: last[key] for key in ("found", "failed", "cpu_s", "wall_s", "simulated_s", "packets")}
        status = "complete" if last["runs"] == last["of"] else "interrupted"
        write_json(path / places.MANIFEST, {**manifest, "status": status, "cost": cost})
        if status == "interrupted":
            raise Interrupted(
                "the study was interrupted",
                f"{last['runs']:,} of {last['of']:,} runs are in {path}",
                "the same command goes on from there",
            )
        wanted = more(Study(path), base.repeat, done)
        if not wanted:
            break
        done = [wanted.get(cell, count) for cell, count in enumerate(done)]
    found = [one.as_json() for one in judge(Study(path), base.expect)]
    write_json(path / places.MANIFEST, {**manifest, "status": status, "cost": cost, "expectations": found})
    return Study(path)


def _plans(
    draft: Draft, base: Scenario, cells: Sequence[grid.Cell], engine: Engine, jobs: int, on_event: OnEvent
) -> list[Planned]:
    planner = Planner(draft, base.repeat.most, engine, manifests.core_version() or "none")
    plans: list[Planned] = []
    processes = jobs if isinstance(engine, SimulateEngine) else 1
    for one in planner.all(cells, processes):
        plans.append(one)
        on_event({"event": "planning", "cells": len(plans), "of": len(cells)})
    return plans


def _schedule(path: Path, cells: int) -> Schedule:
    """What earlier commands have asked for."""
    manifest = path / places.MANIFEST
    return Schedule(cells, read_json(manifest)["rounds"] if manifest.exists() else ())


def _said(draft: Draft) -> list[str]:
    """What was said outside the file, as `--set` takes it."""
    return [f"{dotted(key)}={show(lookup(draft.data, key)[1])}" for key in draft.places]


def _identity(plans: Sequence[Planned]) -> str:
    """Of all studies with these cells; how often they are repeated is not in it."""
    return hashlib.sha256(canonical({"cells": [plan.run_ids[0] for plan in plans]}).encode()).hexdigest()[:12]


def _ignore(event: Event) -> None:
    pass
