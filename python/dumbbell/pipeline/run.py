"""One run, from scenario to report: `dumbbell.run`."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dumbbell.command import rebuild
from dumbbell.engines.events import Event, OnEvent
from dumbbell.engines.foreseen import warn
from dumbbell.engines.protocol import Engine, LiveRun, Outcome
from dumbbell.engines.registry import DEFAULT
from dumbbell.engines.registry import engine as engine_of
from dumbbell.errors import DumbbellError, Interrupted, RunFailed, ScenarioError, remedy, unwritable
from dumbbell.pipeline.interrupts import Interrupts
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.identity import run_id
from dumbbell.plan.types import Plan
from dumbbell.records import manifest as manifests
from dumbbell.records import progress
from dumbbell.records.directory import RunDirectory
from dumbbell.records.files import write_json
from dumbbell.records.plan import write_plan
from dumbbell.scenario import Scenario, load
from dumbbell.scenario.file import writing
from dumbbell.scenario.source import show

if TYPE_CHECKING:
    from dumbbell.pipeline.results import Run
    from dumbbell.scenario.file.overrides import Overrides

OnLive = Callable[[LiveRun], None]

JUDGED_AT_ONCE: Final = 5_000_000
"""Bytes of tables that are judged in less than a second: whoever stops a run does not want to wait."""


def run(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] = "runs",
    on_event: OnEvent | None = None,
    engine: str | Engine = DEFAULT,
    report: bool = True,
    others: Mapping[str, int] | None = None,
    on_live: OnLive | None = None,
    keep_events: bool = False,
) -> Run:
    """Carry out a scenario, judge the result, and write its report.

    Args:
        scenario: a bundled scenario's name, a file, a dict of the same shape, or a `Scenario`.
        overrides: `{"duration": "10 s"}`, or texts as after `--set`: `["duration=10 s"]`.
        directory: where runs are kept; this one becomes `directory/<name>-<run_id>`. An earlier run of the same plan is
            moved to `<name>-<run_id>.1`, `.2`, ...; nothing is overwritten.
        on_event: called with each event of the run, to show progress.
        engine: what carries it out: `emulate`, real Linux TCP; `virtual`, that of any kernel, in virtual time;
            `simulate`, a model of it; or an engine of your own.
        report: write the report now. Of many runs it takes time and room; `Run.report` makes up for it at any time.
        others: how many other attempts there are, as `records.directory.attempts` counts them; by default, those in
            `directory`.
        on_live: gets the run as it begins, for orders from another thread: stop, or change a link. Links that are
            changed are events of the run's `plan.json`, and `changes` of its `manifest.json`.
        keep_events: also write each event as a line to `events.jsonl` in the run's directory, as it comes.

    Returns:
        The finished run. It may be suspect or invalid: ask `run.verdict`.

    Raises:
        InputError: the scenario, the engine, or this machine, does not allow the run; nothing was started.
        RunFailed: it failed. The measurements until then are kept in `<name>-<run_id>.failed-N`.
        Interrupted: Ctrl-C; the measurements are kept in the same way.
    """
    engine = engine_of(engine)
    overrides = overrides if isinstance(overrides, Mapping | str) else list(overrides)
    loaded = load(scenario, overrides)
    plan = planned(engine, loaded)
    problems = engine.check(loaded, plan)
    if problems:
        raise ScenarioError(problems)
    identity = run_id(plan, engine.capabilities.name, manifests.core_version() or "none")
    on_event = on_event or _ignore
    first = {"event": "planned", "plan": plan, "run_id": identity, "engine": engine.capabilities.name}
    on_event(first)
    warn(engine, loaded, plan)
    target = RunDirectory.begin(Path(directory), loaded.name, identity)
    manifest = manifests.at_start(
        loaded.name, identity, engine.capabilities.name, _source(loaded), [*_varied(scenario), *_texts(overrides)]
    )
    interrupts = Interrupts()
    with interrupts.taken_over():
        try:
            write_json(target.path / "manifest.json", manifest)
            _write_input(target.path, loaded, plan)
            with progress.kept(target.path, on_event, first) if keep_events else nullcontext(on_event) as tell:
                finished = _run_engine(engine, plan, target, manifest, tell, others, on_live, interrupts)
        except (KeyboardInterrupt, Interrupted) as error:
            what = error.what if isinstance(error, Interrupted) else "the run was interrupted"
            kept = target.fail("interrupted", what)
            why = error.why if isinstance(error, Interrupted) else ""
            kept_in = f"the measurements until then are in {kept}"
            raise Interrupted(what, "\n".join(filter(None, [why, kept_in]))) from None
        except DumbbellError as error:
            kept = target.fail("failed", str(error))
            why = "\n".join(filter(None, [error.why, f"the measurements until then are in {kept}"]))
            raise RunFailed(error.what, why, error.hint or _elsewhere(error.why)) from error
        except OSError as error:
            kept = target.fail("failed", str(error))
            raise unwritable(f"the run to {directory}", error, f"the measurements until then are in {kept}") from error
        except BaseException as error:
            target.fail("failed", f"{type(error).__name__}: {error}")
            raise
        if report:
            try:
                finished.report()
            except DumbbellError as error:
                why = "\n".join(filter(None, [error.why, f"the run is complete: {finished.directory}"]))
                raise RunFailed(error.what, why, error.hint) from error
        return finished


def _run_engine(
    engine: Engine,
    plan: Plan,
    target: RunDirectory,
    manifest: Mapping[str, object],
    on_event: OnEvent,
    others: Mapping[str, int] | None,
    on_live: OnLive | None,
    interrupts: Interrupts,
) -> Run:
    began = time.monotonic()
    changes: list[Event] = []
    given = plan

    def note(event: Event) -> None:
        nonlocal plan
        if event["event"] == "changed":
            changes.append(event)
            plan = changed(given, changes)
            write_plan(target.path / "plan.json", plan)
        on_event(event)

    outcome = execute(engine, given, target.path, target.lock, note, on_live, interrupts)
    if changes:
        manifest = {
            **manifest,
            "changes": [{"time_ns": one["time_ns"], "link": one["link"]["name"]} for one in changes],
        }
    if outcome.interrupted and _size(target.path) > JUDGED_AT_ONCE:
        raise Interrupted("the run was interrupted", "it is not judged: with so many records that takes a while")
    on_event({"event": "composing"})
    from dumbbell.pipeline.compose import composed

    if outcome.interrupted:
        # The figures of an interrupted run are worth keeping; the error reports the interruption.
        with suppress(DumbbellError):
            composed(target, manifest, time.monotonic() - began, others, plan)
        raise Interrupted("the run was interrupted")
    try:
        known = composed(target, manifest, time.monotonic() - began, others, plan)
    except (DumbbellError, OSError):
        raise
    except Exception as error:
        raise _uncomposed(error) from error
    from dumbbell.pipeline.results import Run

    return Run(target.complete(), plan=known)


def execute(
    engine: Engine,
    plan: Plan,
    directory: Path,
    lock: int,
    on_event: OnEvent,
    on_live: OnLive | None = None,
    interrupts: Interrupts | None = None,
) -> Outcome:
    """Carry out `plan`, whose `plan.json` lies in `directory`, and write the records there.

    Args:
        engine: what carries it out.
        plan: the expanded run.
        directory: the run directory, made and locked.
        lock: descriptor of the lock.
        on_event: told of each event. What it raises ends the run.
        on_live: gets the run as it begins, to give it orders.
        interrupts: takes the signals; by default, for as long as the run lasts.

    Raises:
        RunFailed: with what failed, why, and a hint.
        Interrupted: it was ended at once, or before it began.
    """
    interrupts = interrupts or Interrupts()
    live = engine.prepare(plan, directory, lock)
    interrupts.begin(live)
    with interrupts.taken_over(), live:
        if on_live is not None:
            on_live(live)
        for event in live.events():
            on_event(event)
        outcome = live.wait()
        interrupts.end()
        return outcome


def _elsewhere(why: str) -> str:
    """Returns what to do about an error of the operating system that the core names; empty if it names none."""
    elsewhere = "choose another place: --output DIR"
    if first := remedy(why):
        return f"{first}, or {elsewhere}"
    return elsewhere if "(os error " in why else ""


def _size(directory: Path) -> int:
    """Bytes of a run's tables."""
    return sum(table.stat().st_size for table in directory.glob("*.parquet"))


def changed(plan: Plan, changes: Sequence[Event]) -> Plan:
    """The plan of a run in which links were changed by orders: each is an event more."""
    ordered = (wire.change({"at_ns": one["time_ns"], "link": one["link"]}) for one in changes)
    return replace(plan, events=tuple(sorted((*plan.events, *ordered), key=lambda event: event.at_ns)))


def _uncomposed(error: Exception) -> RunFailed:
    """The error when complete records give no figures: usually, Python code and core are of different builds."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    why = f"{type(error).__name__}: {error} (in {where.name}, {Path(where.filename).name}:{where.lineno})"
    tool, core = manifests.tool_version(), manifests.core_version()
    if tool not in (core, "source"):
        why += f"\ndumbbell is of version {tool}, its compiled core of version {core}"
    hint = f"if dumbbell was updated, build its core again: {rebuild()}"
    return RunFailed("could not compute figures from the run's records", why, hint)


def _write_input(path: Path, scenario: Scenario, plan: Plan) -> None:
    writing.write(scenario, path)
    write_plan(path / "plan.json", plan)


def _source(scenario: Scenario) -> str | None:
    return scenario.source.name if scenario.source.text else None


def _texts(overrides: Overrides) -> list[str]:
    if isinstance(overrides, Mapping):
        return [f"{key}={show(value)}" for key, value in overrides.items()]
    return [overrides] if isinstance(overrides, str) else list(overrides)


def _varied(scenario: object) -> list[str]:
    """Returns what was set outside a scenario's file: the values of a study's cell, and its seed."""
    told = scenario.source.overrides.values() if isinstance(scenario, Scenario) else ()
    return [text.partition(" ")[2] for text in told]


def _ignore(event: Event) -> None:
    pass
