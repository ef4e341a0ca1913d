"""From a scenario and the cells of a sweep to plans, as the simulator reads them."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from dumbbell.engines.names import SIMULATE
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.errors import Problem, ScenarioError
from dumbbell.plan.expand import expand_checked
from dumbbell.plan.identity import Identity
from dumbbell.scenario.loading import Draft, checked
from dumbbell.scenario.source import show
from dumbbell.sweeps.grid import Cell
from dumbbell.sweeps.seeds import Seeds

RECORD: Final = {"record.packets": False, "record.acks": False}
"""What a sweep doesn't record: a row per packet or per ACK, of so many runs."""

MANY: Final = 200
"""Cells from which on it pays to plan in several processes."""
CHUNK: Final = 20


@dataclass(frozen=True)
class Planned:
    """A cell's runs, which differ by their seeds alone."""

    plan: str
    """JSON, with the first of the seeds."""
    seeds: tuple[int, ...]
    run_ids: tuple[str, ...]


@dataclass(frozen=True)
class Planner:
    """Plans cells one by one."""

    draft: Draft
    """What they have in common."""
    seeds: Seeds
    version: str
    """Of the core."""

    def plan(self, cell: Cell) -> Planned:
        """Plan a cell. Raises `ScenarioError` if the scenario's rules, or the engine, refuse it."""
        scenario = checked(self.draft.with_values({**RECORD, **cell}))
        plan = expand_checked(scenario)
        seeds = self.seeds.of(scenario.seed)
        identity = Identity(plan, SIMULATE, self.version)
        text = identity.plan(seeds[0])
        problems = SimulateEngine().check(scenario, plan, text)
        if problems:
            raise ScenarioError([_in_cell(problem, cell) for problem in problems])
        return Planned(text, seeds, tuple(map(identity.run_id, seeds)))

    def all(self, cells: Sequence[Cell], processes: int) -> Iterator[Planned]:
        """Plan many, in order; on several cores if that pays and is safe."""
        if len(cells) < MANY or processes < 2 or not _may_fork():
            yield from map(self.plan, cells)
            return
        with _pool(processes) as pool:
            yield from pool.map(self.plan, cells, chunksize=CHUNK)


def _may_fork() -> bool:
    """A process with threads, which polars has, can't be forked safely."""
    return sys.platform == "linux" and threading.active_count() == 1 and "polars" not in sys.modules


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork"))
    try:
        yield pool
    finally:
        # At the first cell that is refused nothing more is planned.
        pool.shutdown(cancel_futures=True)


def _in_cell(problem: Problem, cell: Cell) -> Problem:
    where = ", ".join(f"{key}={show(value)}" for key, value in cell.items())
    return Problem(problem.what, "\n".join(filter(None, [problem.why, where and f"in the cell {where}"])), problem.hint)
