"""Runs of a study that keep their records: those of a kernel, in real or in virtual time. Each is a process; as many
run at once as the machine can carry.

Their order is random within each round, and rounds follow each other: a slow spell of the machine falls on all cells.
Figures are compiled into few files as runs finish; a later command finds the uncompiled runs of a killed one by their
names.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from dumbbell.analysis import machine
from dumbbell.engines.events import OnEvent
from dumbbell.engines.protocol import Engine
from dumbbell.engines.signals import taken_over
from dumbbell.execute import ATTEMPTS, Executor, Job, Progress
from dumbbell.execute.cost import cores
from dumbbell.frozen import dataclass
from dumbbell.records.directory import RUNS
from dumbbell.records.run import Run
from dumbbell.scenario.file.loading import seeded
from dumbbell.scenario.model import Scenario
from dumbbell.studies import shards
from dumbbell.studies.planning import Planned
from dumbbell.studies.schedule import Scheduled

BATCH: Final = 16
"""Figures are written after this many runs, or after `BATCH_S`."""
BATCH_S: Final = 60.0


@dataclass(frozen=True)
class Only:
    """The runs that are carried out; by default, those that never were."""

    failed: bool = False
    """True: the runs that were given up."""
    suspect: bool = False
    """True: the runs that the machine disturbed, once more."""

    def __bool__(self) -> bool:
        """True if it is not the default."""
        return self.failed or self.suspect


@dataclass(frozen=True)
class Work:
    """The runs to carry out."""

    path: Path
    """The study's directory."""
    plans: Sequence[Planned]
    scenario: Callable[[int], Scenario]
    """The scenario of a cell."""
    engine: Engine
    executor: Executor
    only: Only
    redo: bool
    """True if runs that the machine disturbed are carried out again."""


def record_runs(work: Work, runs: Sequence[Scheduled], on_event: OnEvent) -> Mapping[str, object]:
    """Carry out the missing ones of `runs`. Returns the result as in `study.json`. Raises as `Executor.run_jobs`."""
    parts = shards.Parts(work.path)
    given_up = {row["run"]: row for row in shards.refused(work.path)}
    numbers = {run.number for run in runs}
    wanted = chosen(work.path, runs, work.only)
    found = len(runs) - len(wanted)
    finished = shards.finished(work.path)
    tables = _Tables(parts, work.plans, _by_identity(work.plans, runs), set(finished))
    jobs = list(_jobs(work, wanted, finished))
    settled: set[str] = set()

    def refuse(identity: str, why: str) -> None:
        settled.add(identity)
        verdict = "invalid" if why.startswith("invalid: ") else None
        for run in tables.runs[identity]:
            given_up[run.number] = {**tables.own(run), **tables.placed(run), "error": why, "verdict": verdict}
        shards.write_refused(work.path, list(given_up.values()))

    def keep(run: Run) -> None:
        settled.add(run.run_id)
        tables.add(run)
        if any([given_up.pop(one.number, None) for one in tables.runs[run.run_id]]):
            shards.write_refused(work.path, list(given_up.values()))

    began = time.monotonic()
    counts = Counter(work.plans[run.cell].run_ids[run.repetition] for run in wanted)
    again = {job.key for job in jobs if job.again}
    copies = {identity: count - 1 for identity, count in counts.items() if count > 1}

    def tell(progress: Progress) -> None:
        # A job settles all runs that have its plan.
        more = sum(count for identity, count in copies.items() if identity in settled or identity in again)
        told = {"runs": found + more + progress.done + progress.refused, "of": len(numbers), "found": found}
        told |= {"failed": len(given_up.keys() & numbers), "repeated": progress.repeated, "redone": progress.redone}
        on_event({"event": "progress", **told, "left_s": progress.left_s, "wall_s": time.monotonic() - began})

    try:
        with taken_over(_interrupt):
            carried = work.executor.run_jobs(jobs, keep, tell, refuse, work.redo)
    finally:
        tables.flush()
    told = {"found": found, "failed": len(given_up.keys() & numbers), "wall_s": time.monotonic() - began}
    return told | {"redone": carried.redone, "cured": carried.cured}


def chosen(path: Path, runs: Sequence[Scheduled], only: Only) -> list[Scheduled]:
    """The runs that are wanted."""
    finished, given_up = shards.finished(path), {row["run"] for row in shards.refused(path)}
    if not only:
        there = finished | given_up
        return [run for run in runs if run.number not in there]
    wanted = given_up - finished if only.failed else set()
    wanted |= disturbed(path) if only.suspect else set()
    return [run for run in runs if run.number in wanted]


def disturbed(path: Path) -> set[int]:
    """The numbers of the runs that are suspect for the machine's sake alone."""
    rows = shards.scan(path, "runs").filter(verdict="suspect").select("run", "reasons").collect().iter_rows()
    return {run for run, reasons in rows if reasons and machine.disturbed("suspect", reasons.split(", "))}


def in_order(runs: Sequence[Scheduled]) -> list[Scheduled]:
    """Repetition by repetition; the cells of each are in a random order that is the same each time."""
    by_round: dict[int, list[Scheduled]] = {}
    for run in runs:
        by_round.setdefault(run.repetition, []).append(run)
    mixed = []
    for repetition, cells in sorted(by_round.items()):
        Random(repetition).shuffle(cells)
        mixed += cells
    return mixed


def _by_identity(plans: Sequence[Planned], runs: Sequence[Scheduled]) -> Mapping[str, Sequence[Scheduled]]:
    """Identity of a plan -> the runs that have it: several cells may be the same network."""
    found: dict[str, list[Scheduled]] = {}
    for run in runs:
        found.setdefault(plans[run.cell].run_ids[run.repetition], []).append(run)
    return found


def _jobs(work: Work, runs: Sequence[Scheduled], finished: Collection[int]) -> Iterator[Job[str]]:
    """A job for each plan, however many of `runs` have it."""
    costs: dict[int, float] = {}
    seen: set[str] = set()

    @cache
    def scenario(cell: int) -> Scenario:
        return work.scenario(cell)

    for run in in_order(runs):
        plan = work.plans[run.cell]
        identity = plan.run_ids[run.repetition]
        if identity in seen:
            continue
        seen.add(identity)
        if run.cell not in costs:
            costs[run.cell] = cores(plan.read())
        yield Job(
            identity,
            seeded(scenario(run.cell), plan.seed + run.repetition),
            work.engine,
            work.path / RUNS,
            1 if work.engine.capabilities.deterministic else ATTEMPTS,
            identity,
            run.cell,
            costs[run.cell],
            run.number in finished,
        )


@dataclass
class _Tables:
    """Rows that are not on disk yet."""

    parts: shards.Parts
    plans: Sequence[Planned]
    runs: Mapping[str, Sequence[Scheduled]]
    """Identity of a plan -> the runs that have it."""
    written: set[int]
    """Numbers of runs that have rows on disk."""
    _rows: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    _pending: set[int] = field(default_factory=set)
    """The runs of these."""
    _since: float = 0.0

    def own(self, run: Scheduled) -> dict[str, object]:
        return {"run": run.number, "run_id": self.plans[run.cell].run_ids[run.repetition]}

    def placed(self, run: Scheduled) -> dict[str, object]:
        seed = self.plans[run.cell].seed + run.repetition
        return {"cell": run.cell, "repetition": run.repetition, "seed": seed}

    def add(self, done: Run) -> None:
        """Take the rows of a run, once for each run of the study that has its plan."""
        from dumbbell.studies.tables import rows

        alike = self.runs[done.run_id]
        if any(run.number in self._pending for run in alike):
            self.flush()
        if not self._rows:
            self._since = time.monotonic()
        for run in alike:
            self._pending.add(run.number)
            for table, some in rows(done, self.own(run), self.placed(run)).items():
                self._rows.setdefault(table, []).extend(some)
        if len(self._rows["runs"]) >= BATCH or time.monotonic() - self._since > BATCH_S:
            self.flush()

    def flush(self) -> None:
        """Write the rows so far."""
        if self._rows:
            self.parts.add(self._rows, self.written & self._pending)
            self.written |= self._pending
            self._rows, self._pending = {}, set()


def _interrupt() -> None:
    """Within this context, SIGTERM ends the study as Ctrl-C does."""
    raise KeyboardInterrupt
