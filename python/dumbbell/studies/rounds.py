"""A study from its cells to its expectations: plan, carry out, repeat until precise enough, judge."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from dumbbell.counts import count
from dumbbell.engines.events import OnEvent
from dumbbell.engines.protocol import BatchEngine, Engine
from dumbbell.errors import Foreseen, InputError, Interrupted, RunFailed, unwritable
from dumbbell.execute import Budget, Executor, Fixed, Local
from dumbbell.frozen import dataclass
from dumbbell.plan.identity import canonical
from dumbbell.records import manifest as manifests
from dumbbell.records.files import write_json
from dumbbell.scenario import Scenario
from dumbbell.scenario.file import writing
from dumbbell.scenario.file.loading import Draft
from dumbbell.scenario.source import dotted, lookup, show
from dumbbell.studies import cells as grid
from dumbbell.studies import directory as places
from dumbbell.studies import earlier, entries, recorded, simulated
from dumbbell.studies.check import check_names
from dumbbell.studies.equal import equal_cells, sentences
from dumbbell.studies.expectations import judge
from dumbbell.studies.forecast import forecast, sample
from dumbbell.studies.outcome import failures
from dumbbell.studies.planning import Planned, Planner, alike
from dumbbell.studies.prepared import prepared, raise_found
from dumbbell.studies.repeating import more, too_wide
from dumbbell.studies.results import Study
from dumbbell.studies.schedule import Scheduled
from dumbbell.studies.status import Noting

_MISSING: Final = recorded.Only()


@dataclass(frozen=True)
class Wanted:
    """A study, and how to carry it out."""

    draft: Draft
    engine: Engine
    jobs: int | None = None
    """Runs at a time; `None`: as many as the machine can run validly."""
    only: recorded.Only = _MISSING
    """The runs that are repeated, if only such are wanted."""
    redo: bool = True
    """True if runs that the machine disturbed are carried out again."""
    elsewhere: Executor | None = None
    """`None`: this machine."""

    @cached_property
    def executor(self) -> Executor:
        """The executor of the runs."""
        if self.elsewhere:
            return self.elsewhere
        # Only runs in real time disturb each other.
        learns = self.engine.capabilities.real_time and not self.jobs
        return Local(Budget() if learns else Fixed(self.threads), self.threads)

    @property
    def simulated(self) -> bool:
        """True if its runs are simulated, many in one process."""
        return self.engine.capabilities.batches

    @property
    def threads(self) -> int:
        """Threads of this machine, for planning and for simulating."""
        return self.jobs or len(os.sched_getaffinity(0))


def run_study(wanted: Wanted, root: Path, on_event: OnEvent) -> Study:
    """Carry out the missing runs of a study below `root`. Raises as `dumbbell.run`."""
    began = time.monotonic()
    draft, engine = wanted.draft, wanted.engine
    base, cells = prepared(draft)
    executor = wanted.executor
    planner = Planner(draft, base.repeat.most, engine, manifests.core_version() or "none", executor.is_here)
    # Before a process pool is made: a display that has threads begins after it.
    on_event({"event": "planning", "cells": 0, "of": len(cells), "least": base.repeat.least})
    plans = _plans(planner, cells, wanted, on_event)
    if not wanted.simulated and (other := alike(planner, cells, plans)) is not planner:
        planner, plans = other, list(other.all(cells, 1))
    raise_found(base, check_names(base, cells, plans))
    executor.check(engine, map(planner.scenario, cells))
    identity = _identity(plans)
    path = root / f"{base.name}-{identity}"
    _refuse_redo(wanted, path)
    if wanted.only.failed and wanted.simulated:
        return _nothing_failed(path)
    manifest = manifests.at_start(
        base.name, identity, engine.capabilities.name, draft.name if draft.text else None, _overrides(draft)
    )
    manifest |= {"study_id": identity, "cells": cells, "repeat": base.repeat.model_dump(mode="json")}
    manifest |= {"threads": wanted.threads, "planning_s": round(time.monotonic() - began, 3)}
    manifest |= {"executor": executor.manifest, "starts_ns": max((plan.starts_ns for plan in plans), default=0)}
    groups = equal_cells(dict(enumerate(plans)))
    manifest |= {"equal_cells": groups, "equal": sentences(cells, groups)}
    for said in manifest["equal"]:
        warnings.warn(f"{said}: expect equal results", Foreseen, stacklevel=3)
    with places.locked(path), _writing_to(path):
        manifest |= earlier.begun(path, manifest["started_at"])
        writing.write(base, path, _naming_files(planner, cells))
        entries.write(path, [plan.entries for plan in plans])
        rounds = _Rounds(wanted, planner, base, cells, plans, path, manifest, on_event)
        try:
            return rounds.all()
        except Interrupted as error:
            rounds.write(places.INTERRUPTED)
            why = f"finished runs are in {path}"
            raise Interrupted("the study was interrupted", why, "the same command continues from there") from error


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    """Turns errors of the file system into one that says what is kept."""
    try:
        yield
    except OSError as error:
        raise unwritable(
            f"the study to {path}", error, "finished runs are kept: the same command continues from there"
        ) from error


def _refuse_redo(wanted: Wanted, path: Path) -> None:
    """Raise `InputError` if suspect runs are to be repeated, or not, where it makes no difference."""
    real_time = wanted.engine.capabilities.real_time
    for option, given in (("--suspect", wanted.only.suspect), ("--no-redo", not wanted.redo)):
        if given and not real_time:
            why = f"the engine {wanted.engine.capabilities.name} gives the same each time: no machine disturbs it"
            raise InputError(f"{option} applies to runs in real time", why, f"omit {option}")
    if wanted.only.suspect and not (path / places.MANIFEST).exists():
        raise InputError("--suspect: nothing has been run yet", f"there is no {path}", "omit --suspect")


def _nothing_failed(path: Path) -> Study:
    """The simulated study unchanged if no run has failed. Raises `InputError` if one has: it would fail again."""
    if not (path / places.MANIFEST).exists():
        raise InputError("--failed: nothing has been run yet", f"there is no {path}", "omit --failed")
    study = Study(path)
    failed = failures(study) if study.has_runs else []
    if failed:
        hint = f"look at it in full: --cell {failed[0]['cell']} --repetition {failed[0]['repetition']}"
        raise InputError("--failed: simulated runs fail the same way again", "they are deterministic", hint)
    return study


@dataclass
class _Rounds:
    wanted: Wanted
    planner: Planner
    base: Scenario
    cells: Sequence[grid.Cell]
    plans: Sequence[Planned]
    path: Path
    manifest: dict[str, object]
    """The number of runs, as far as it is known."""
    on_event: OnEvent

    def all(self) -> Study:
        """Carry out round after round, until the figures are precise enough."""
        schedule, repeat = earlier.schedule(self.path, len(self.plans)), self.base.repeat
        done = [repeat.least] * len(self.plans)
        cost: dict[str, object] = {}
        known = 0
        while True:
            runs = schedule.want(dict(enumerate(done)))
            self.manifest |= {"rounds": schedule.rounds, "repetitions": max(done), "runs": len(runs)}
            self.write(places.RUNNING)
            cost = _added(cost, self._round(runs, known), known)
            self.manifest["cost"], known = cost, len(runs)
            if self.wanted.only and recorded.chosen(self.path, runs, _MISSING):
                # Some runs have not been tried yet: the study stays interrupted.
                self.write(places.INTERRUPTED)
                return Study(self.path)
            self._check_all()
            wanted = more(Study(self.path), repeat, done)
            if not wanted:
                break
            done = [wanted.get(cell, count) for cell, count in enumerate(done)]
        self.manifest["too_wide"] = too_wide(Study(self.path), repeat)
        self.manifest["expectations"] = [one.as_json() for one in judge(Study(self.path), self.base.expect)]
        self.write(places.COMPLETE)
        return Study(self.path)

    def _check_all(self) -> None:
        """Raise `RunFailed` if a run has neither figures nor a reason why there are none."""
        if lost := Study(self.path).missing:
            self.write(places.INTERRUPTED)
            what = f"{lost:,} of {self.manifest['runs']:,} runs left no result"
            raise RunFailed(what, f"the others are in {self.path}", "the same command carries out what is missing")

    def write(self, status: str) -> None:
        """The manifest, as it is now."""
        write_json(self.path / places.MANIFEST, {**self.manifest, "status": status})

    def _round(self, runs: Sequence[Scheduled], known: int) -> Mapping[str, Any]:
        """Carry out the missing ones of `runs`, of which the first `known` are not new. Returns the cost.

        Raises `Interrupted`.
        """
        executor = self.wanted.executor
        new = runs[known:]
        told = {"runs": len(new), "known": known, "directory": str(self.path)}
        told |= {"cells": len({run.cell for run in new}) if known else len(self.plans), "of": len(self.plans)}
        durations = [self.plans[run.cell].duration_s for run in new]
        told |= {"traffic_s": sum(durations), "longest_s": max(durations, default=0.0)}
        told |= {"until": self.base.repeat.until is not None, "least": self.base.repeat.least}
        left = new if self.wanted.simulated else recorded.chosen(self.path, runs, self.wanted.only)
        some = [self.plans[cell].read() for cell in sample(list(dict.fromkeys(run.cell for run in left)))]
        told |= forecast(self.wanted.engine, some, len(left), executor.room)
        self.on_event({"event": "planned", **told})
        noted = Noting(self.path, self.on_event)
        if not self.wanted.simulated:
            redo = self.wanted.redo and self.wanted.engine.capabilities.real_time
            work = recorded.Work(
                self.path, self.plans, self._scenario, self.wanted.engine, executor, self.wanted.only, redo
            )
            return recorded.record_runs(work, runs, noted)
        assert isinstance(self.wanted.engine, BatchEngine), "its capabilities say that it runs batches"
        last = simulated.simulate_runs(self.wanted.engine, self.plans, runs, self.path, executor, noted)
        if last["runs"] < last["of"]:
            raise Interrupted(f"interrupted after {last['runs']:,} of {count(last['of'], 'run')}")
        return {key: last[key] for key in ("found", "failed", "cpu_s", "wall_s", "simulated_s", "packets")}

    def _scenario(self, cell: int) -> Scenario:
        return self.planner.scenario(self.cells[cell])


def _added(before: Mapping[str, Any], now: Mapping[str, Any], known: int) -> dict[str, object]:
    """The cost of all rounds. A later round finds the `known` runs of earlier rounds on disk; they were new then."""
    new = {**now, "found": max(now["found"] - known, 0)}
    return {key: before.get(key, 0) + value for key, value in new.items()}


def _plans(planner: Planner, cells: Sequence[grid.Cell], wanted: Wanted, on_event: OnEvent) -> list[Planned]:
    plans: list[Planned] = []
    with closing(planner.all(cells, wanted.threads if wanted.simulated else 1)) as planned:
        for one in planned:
            plans.append(one)
            on_event({"event": "planning", "cells": len(plans), "of": len(cells)})
    return plans


def _naming_files(planner: Planner, cells: Sequence[grid.Cell]) -> Iterator[Scenario]:
    """The scenario of a cell for each varied value that names a file."""
    seen: set[tuple[str, str]] = set()
    for cell in cells:
        named = {(key, show(value)) for key, value in grid.values(cell).items() if writing.names_files(key, value)}
        if not named <= seen:
            seen |= named
            yield planner.scenario(cell)


def _overrides(draft: Draft) -> list[str]:
    """Values that were set outside the file, as `--set` takes them."""
    return [f"{dotted(key)}={show(lookup(draft.data, key)[1])}" for key in draft.places]


def _identity(plans: Sequence[Planned]) -> str:
    """The id of all studies with these cells, independent of the number of repetitions."""
    return hashlib.sha256(canonical({"cells": [plan.run_ids[0] for plan in plans]}).encode()).hexdigest()[:12]
