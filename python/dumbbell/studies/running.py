"""A scenario, once or as a study: `dumbbell.run`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, overload

from dumbbell.engines.events import Event, OnEvent
from dumbbell.engines.protocol import Engine
from dumbbell.engines.registry import DEFAULT
from dumbbell.engines.registry import engine as engine_of
from dumbbell.execute import Executor
from dumbbell.execute.names import executor as named
from dumbbell.execute.names import refuse_single
from dumbbell.pipeline import notebook
from dumbbell.pipeline.planned import kernel_override
from dumbbell.pipeline.run import run as run_once
from dumbbell.scenario import Scenario
from dumbbell.scenario.file.loading import read
from dumbbell.studies import cells as grid
from dumbbell.studies import directory as places
from dumbbell.studies.recorded import Only
from dumbbell.studies.results import Study
from dumbbell.studies.rounds import Wanted, run_study

if TYPE_CHECKING:
    from dumbbell.pipeline.results import Run
    from dumbbell.scenario.file.overrides import Overrides

Source = str | os.PathLike[str] | Mapping[str, object] | Scenario


class RunOptions(TypedDict, total=False):
    """How a scenario is carried out; `dumbbell.run` takes these as keywords.

    Keys:
        on_event: called with each event, to show progress; in a notebook, by default, a line shows it.
        engine: what carries it out: `emulate`, real Linux TCP; `virtual`, that of any kernel, in virtual time;
            `simulate`, a model of it; or an engine of your own. By default, `emulate`.
        report: write the report now, which is the default. It takes time and room; `Run.report` and `Study.report` make
            up for it at any time.
        kernel: with the engine `virtual`, the name of the kernel; the same as `emulate.kernel` of the scenario.
        jobs: runs of a study at a time; by default as many as the machine can do well.
        failed: of a study, only those runs again that could not be used.
        suspect: of a study in real time, only those runs again that the machine disturbed.
        redo: carry out again, after all others, a few times, runs that the machine disturbed, which is the default.
            Applies to studies in real time.
        executor: what carries out a study's runs: `local`, this machine, which is the default; `ray`, the Ray cluster
            that it belongs to; or an executor, such as `dumbbell.execute.cluster.Ray(address="head:6379")`.
    """

    on_event: OnEvent | None
    engine: str | Engine
    report: bool
    kernel: str | None
    jobs: int | None
    failed: bool
    suspect: bool
    redo: bool
    executor: Executor | str | None


@overload
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    *,
    vary: grid.Vary | Iterable[str],
    repeat: int | None = None,
    **options: Unpack[RunOptions],
) -> Study: ...
@overload
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    *,
    repeat: int,
    **options: Unpack[RunOptions],
) -> Study: ...
@overload
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    **options: Unpack[RunOptions],
) -> Run | Study: ...
def run(
    scenario: Source,
    overrides: Overrides = (),
    directory: str | os.PathLike[str] | None = None,
    *,
    vary: grid.Vary | Iterable[str] | None = None,
    repeat: int | None = None,
    **options: Unpack[RunOptions],
) -> Run | Study:
    """Carry out a scenario, judge the result, and write its report; or carry out a study and write its report.

    A scenario with `[sweep]`, `repeat` or `[[expect]]` is a study, and so is one with `vary` or `repeat` here. The same
    study again does what is not done yet, which may be nothing; with a larger `repeat` it adds runs.

    Args:
        scenario: a bundled scenario's name, a file, a dict of the same shape, or a `Scenario`.
        overrides: `{"duration": "10 s"}`, or texts as after `--set`: `["duration=10 s"]`.
        directory: where runs (`runs`) or studies (`studies`) are kept; this one becomes `directory/<name>-<id>`. An
            earlier run of the same plan is moved to `<name>-<id>.1`, `.2`, ...; nothing is overwritten.
        vary: a list or range of values for each key, such as `{"flows.0.cc": ["cubic", "bbr"]}`: each combination is a
            cell. Or a list of cells, dicts from key to value. Added to what the scenario's `[sweep]` varies.
        repeat: runs of each cell, instead of the scenario's, with its seed and those after it.
        **options: engine, report, jobs and others: see `RunOptions`.

    Returns:
        The finished `Run`; it may be suspect or invalid: ask `run.verdict`. A study returns the finished `Study`.

    Raises:
        InputError: the scenario, a cell, the engine or this machine does not allow the run; nothing was started.
        RunFailed: a run failed. The measurements until then are kept in `<name>-<id>.failed-N`. A failed run of a study
        is a row. Interrupted: Ctrl-C; the measurements are kept in the same way. Running a study again continues it.
    """
    if unknown := options.keys() - RunOptions.__optional_keys__:
        raise TypeError(f"run() got an unexpected keyword argument {min(unknown)!r}")
    kernel, executor = options.get("kernel"), options.get("executor")
    engine, report, jobs = options.get("engine", DEFAULT), options.get("report", True), options.get("jobs")
    if isinstance(overrides, Mapping):
        overrides = overrides if kernel is None else {**overrides, "emulate.kernel": kernel}
    else:
        overrides = [*([overrides] if isinstance(overrides, str) else overrides), *kernel_override(kernel)]
    draft = read(scenario, overrides)
    on_event = options.get("on_event") or notebook.progress()
    elsewhere = named(executor, jobs=jobs) if isinstance(executor, str) else executor
    only = Only(options.get("failed", False), options.get("suspect", False))
    if vary is None and repeat is None and not only and not grid.is_study(draft):
        refuse_single(elsewhere)
        return run_once(scenario, overrides, directory or "runs", on_event, engine, report)
    wanted = Wanted(
        grid.varied(draft, vary, repeat), engine_of(engine), jobs, only, options.get("redo", True), elsewhere
    )
    on_event = on_event or _ignore
    study = run_study(wanted, Path(directory or places.STUDIES), on_event)
    if report and study.has_usable_runs:
        on_event({"event": "reporting"})
        study.report()
    return study


def _ignore(event: Event) -> None:
    pass
