"""Carry out many runs on this machine, several at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import field
from random import Random
from typing import Any, ClassVar, Final

from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Engine
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.execute import batch
from dumbbell.execute.batch import Ended
from dumbbell.execute.budget import Budget, Fixed, Room
from dumbbell.execute.job import Carried, Job, Key, Result
from dumbbell.execute.progress import Progress
from dumbbell.execute.simulations import Simulations, Tell
from dumbbell.frozen import dataclass
from dumbbell.pipeline.run import run as run_one
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario

SHARD_RUNS: Final = 64
"""Runs in a shard: the most that a killed command has to repeat on each core."""


def run_jobs(
    jobs: Sequence[Job[Key]],
    measure: Callable[[Run], Result],
    at_once: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
    again: bool = False,
) -> Carried[Key, Result]:
    """Carry out `jobs` in a random order, `at_once` at a time, and `measure` each run that is not invalid.

    Writes no report: `Run.report` makes one on request. The order is random, so that a slow period of the machine
    doesn't affect one kind of run. `again`: also repeat runs on disk. `Executor` describes the other arguments.
    """
    shuffled = list(jobs)
    Random(1).shuffle(shuffled)
    with _Threads(Fixed(at_once)) as threads:
        return batch.run_jobs(shuffled, threads, measure, on_progress, again=again)


@dataclass(frozen=True)
class Local:
    """The executor of this machine; see `Executor`."""

    room: Budget | Fixed = field(default_factory=Budget)
    """Limit of emulated runs at a time."""
    cores: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    """Simulated runs at a time."""

    is_here = True
    shard_runs = SHARD_RUNS
    manifest: ClassVar[Mapping[str, object]] = {"name": "local"}

    def check(self, engine: Engine, scenarios: Iterable[Scenario]) -> None:
        """Does nothing: planning has checked them on this machine."""

    def run_jobs(
        self,
        jobs: Sequence[Job[Key]],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None] | None = None,
        on_refused: Callable[[Key, str], None] | None = None,
        redo: bool = False,
    ) -> Carried[Key, Result]:
        """Carry out `jobs`, each in a separate process."""
        with _Threads(self.room) as threads:
            return batch.run_jobs(jobs, threads, measure, on_progress, on_refused, redo=redo)

    def simulate(self, wanted: Simulations, tell: Tell) -> None:
        """Simulate all of `wanted` in this process, with a thread on each core."""
        wanted.simulate(wanted.directory, self.cores, tell)


class _Threads:
    """Attempts on this machine, each watched by a thread. They run within this context."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._pool = ThreadPoolExecutor(room.most)
        self._going: dict[Future[Ended[Job[Any], Run]], Job[Any]] = {}
        self._stopped = threading.Event()

    def __enter__(self) -> _Threads:
        return self

    def __exit__(self, *raised: object) -> None:
        self._pool.shutdown()

    def admits(self, job: Job[Any]) -> bool:
        return self._room.admits(job, len(self._going))

    def begin(self, job: Job[Any]) -> None:
        self._room.begin(job)
        self._going[self._pool.submit(self._attempt, job)] = job

    def ended(self, timeout_s: float) -> Iterable[Ended[Job[Any], Run]]:
        done, _ = wait(self._going, timeout=timeout_s, return_when=FIRST_COMPLETED)
        for future in done:
            job = self._going.pop(future)
            one = future.result()
            self._room.end(job, one.given)
            yield one

    def stop(self) -> None:
        self._stopped.set()
        wait(self._going)

    def _attempt(self, job: Job[Any]) -> Ended[Job[Any], Run]:
        try:
            run = run_one(job.scenario, directory=job.directory, on_event=self._watch, engine=job.engine, report=False)
        except RunFailed as error:
            return Ended(job, None, error.what)
        return Ended(job, run, job.unusable(run))

    def _watch(self, event: Event) -> None:
        """Ends a run at its next event, because no signal ends a run outside the main thread. One whose traffic is over
        is complete, and is judged."""
        if self._stopped.is_set() and event["event"] not in ("done", "end", "composing"):
            raise Interrupted("the batch was interrupted")
