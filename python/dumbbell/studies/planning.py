"""Makes plans from a scenario and the cells of a study."""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from dumbbell.engines.protocol import Engine
from dumbbell.errors import Problem, ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.algorithms import objects
from dumbbell.plan.identity import Identity
from dumbbell.plan.offload import is_wire_only
from dumbbell.plan.types import Plan
from dumbbell.scenario.file.loading import Draft, checked, seeded
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.connections import delay, is_dealt, is_drawn
from dumbbell.scenario.source import show
from dumbbell.studies import entries
from dumbbell.studies.cells import KEYS, Cell, keys, origin, values, written
from dumbbell.studies.starts import moved

RECORD: Final = {"record.packets": False, "record.acks": False, "record.capture": False}
"""A study of many runs does not record rows per packet or ACK, nor packets. Emulated studies do if the file says so."""

_SWEEP: Final = "sweep"
"""Errors use this name for the values of a cell."""

MANY: Final = 200
"""Number of cells from which on planning in several processes pays."""
CHUNK: Final = 20


@dataclass(frozen=True)
class Planned:
    """A cell's runs, which differ only in their seeds."""

    plans: tuple[str, ...]
    """Plans as JSON: one for all runs, with the first seed; or one for each run, if seeds decide on the flows."""
    seed: int
    """The first seed; each repetition has the next one."""
    run_ids: tuple[str, ...]
    duration_s: float
    entries: tuple[entries.Entry, ...]
    starts_ns: int = 0
    """Time by which flows may start later, by the seed."""
    objects: tuple[tuple[str, bytes], ...] = ()
    """The user's programs for an engine that runs many at once: hash of the source, compiled object."""

    def read(self) -> Plan:
        """The first plan."""
        return next(self.read_all())

    def read_all(self) -> Iterator[Plan]:
        """All of its plans."""
        return (wire.parsed(json.loads(plan)) for plan in self.plans)


@dataclass(frozen=True)
class Planner:
    """Plans cells one by one."""

    draft: Draft
    """The scenario that the cells have in common."""
    repetitions: int
    """The most repetitions of each cell."""
    engine: Engine
    version: str
    """Version of the core."""
    asks: bool = True
    """True if this machine carries the runs out, and the engine's checks therefore apply. The checks of a deterministic
    engine apply everywhere."""
    compiles: bool = True
    """False if no check may compile or load what the scenario brings."""

    def scenario(self, cell: Cell) -> Scenario:
        """The draft of a cell. Raises `ScenarioError`."""
        given = self.draft.data.get("record", {})
        said = set(given) if isinstance(given, dict) and not self.engine.capabilities.batches else set()
        record = {key: value for key, value in RECORD.items() if key.rpartition(".")[2] not in said}
        plain = self.draft.without(KEYS)
        try:
            return moved(checked(plain.with_values(record).with_values(values(cell), _SWEEP)), self.repetitions)
        except ScenarioError as error:
            raise ScenarioError([_in_cell(self._placed(problem, cell), cell) for problem in error.problems]) from None

    def _placed(self, problem: Problem, cell: Cell) -> Problem:
        """The problem with its place in the study's `[sweep]`, if the cell's values cause it."""
        sweep = self.draft.data.get("sweep")
        if sweep is None:
            return problem
        for key, value in values(cell).items():
            text = f"{_SWEEP} {key}={show(value)}"
            if problem.place is not None and problem.place.option == text:
                place = self.draft.source.place(origin(sweep, key, value))
                what = problem.what.replace(text, f"{place}: {key} = {show(value)}", 1)
                return replace(problem, what=what, place=place)
        return problem

    def plan(self, cell: Cell) -> Planned:
        """Plan a cell. Raises `ScenarioError` if the scenario's rules, or the engine, refuse it."""
        scenario = self.scenario(cell)
        plan = planned(self.engine, scenario)
        identity = Identity(plan, self.engine.capabilities.name, self.version)
        text = identity.plan(scenario.seed)
        asks = self.compiles and (self.asks or self.engine.capabilities.deterministic)
        problems = self.engine.check(scenario, plan, text) if asks else []
        if problems:
            raise ScenarioError([_in_cell(problem, cell) for problem in problems])
        seeds = range(scenario.seed, scenario.seed + self.repetitions)
        texts, run_ids, known = [text], [*map(identity.run_id, seeds)], entries.of(plan)
        if is_moved_alone(scenario):
            texts, run_ids = map(list, zip(*_moved(scenario, plan, identity, seeds), strict=True))
        elif is_drawn(scenario):
            texts, run_ids = [], []
            for seed in seeds:
                drawn = planned(self.engine, seeded(scenario, seed))
                own = Identity(drawn, self.engine.capabilities.name, self.version)
                texts.append(own.plan(seed))
                run_ids.append(own.run_id(seed))
                known |= entries.of(drawn)
        duration_s = float(scenario.duration) / 1e9
        compiled = objects(resolve(scenario).labels.values()) if asks and self.engine.capabilities.batches else {}
        return Planned(
            tuple(texts),
            scenario.seed,
            tuple(run_ids),
            duration_s,
            tuple(sorted(known)),
            int(scenario.starts or 0),
            tuple(compiled.items()),
        )

    def all(self, cells: Sequence[Cell], processes: int) -> Generator[Planned]:
        """Plan many cells in order, on several cores if that pays and is safe. Whoever leaves half-way closes it."""
        if len(cells) < MANY or processes < 2 or not may_fork():
            yield from map(self.plan, cells)
            return
        with planning_pool(processes) as pool:
            yield from pool.map(self.plan, cells, chunksize=CHUNK)


def is_moved_alone(scenario: Scenario) -> bool:
    """True if plans of other seeds differ by the starts of flows alone."""
    commands = any(flow.runs_programs for flow in scenario.flows)
    return bool(scenario.starts) and not is_dealt(scenario) and not commands


def _moved(scenario: Scenario, plan: Plan, identity: Identity, seeds: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The plan and the run id of each seed; a fraction of what planning each costs."""
    entries = [one.entry for one in resolve(scenario).connections]
    written = [
        flow.start_ns - delay(scenario, scenario.seed, entry) for flow, entry in zip(plan.flows, entries, strict=True)
    ]
    for seed in seeds:
        later = {entry: delay(scenario, seed, entry) for entry in entries}
        yield identity.moved(seed, [at + later[entry] for at, entry in zip(written, entries, strict=True)])


def alike(planner: Planner, cells: Sequence[Cell], plans: Sequence[Planned]) -> Planner:
    """Returns a planner that gives all cells the path that the fastest cell needs: all cells run in the same way.

    Cells keep their own paths if the study varies the path, or if a cell cannot take the other.
    """
    if "emulate.path" in keys(cells):
        return planner
    found = [plan.read() for plan in plans]
    if len({plan.emulate.path for plan in found}) < 2 or any(map(is_wire_only, found)):
        return planner
    return replace(planner, draft=planner.draft.with_values({"emulate.path": "gso"}))


def may_fork() -> bool:
    """True if the process can be forked safely: not with threads, such as those of polars."""
    return sys.platform == "linux" and threading.active_count() == 1 and "polars" not in sys.modules


@contextmanager
def planning_pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Makes processes that plan, and ends them with the context."""
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(processes, fork, _end_with, (os.getpid(),))
    try:
        yield pool
    finally:
        # Planning stops at the first cell that is refused.
        pool.shutdown(cancel_futures=True)


def _end_with(parent: int) -> None:
    """End a process of the pool as soon as the command ends, whatever ends it. Else it would wait for ever."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


_PR_SET_PDEATHSIG: Final = 1


def _in_cell(problem: Problem, cell: Cell) -> Problem:
    where = written(cell)
    return replace(problem, why="\n".join(filter(None, [problem.why, where and f"in the cell {where}"])))
