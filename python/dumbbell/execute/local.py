"""Carry out many runs on this machine, several at once.

What lies on disk is not repeated, so a batch that was cut short goes on where it was. What is invalid is repeated, up
to a limit, after all others: the machine may be calmer then.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic

from dumbbell.engines.protocol import Event
from dumbbell.engines.run import run as run_one
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.execute.budget import Budget, Fixed, Room
from dumbbell.execute.job import Carried, Job, Key, Result, look_up
from dumbbell.execute.progress import Forecast, Progress
from dumbbell.records.run import Run

_LOOK_EVERY_S = 0.5


def carry_out(
    jobs: Sequence[Job[Key]],
    measure: Callable[[Run], Result],
    at_once: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
    again: bool = False,
) -> Carried[Key, Result]:
    """Carry out `jobs` in a random order, `at_once` at a time, and `measure` each run that is not invalid.

    No report is written: `Run.report` makes one when somebody asks for it. The order is random, so that a slow spell of
    the machine doesn't fall on one kind of run. `again`: also repeat what lies on disk. For the rest, see `Executor`.
    """
    shuffled = list(jobs)
    Random(1).shuffle(shuffled)
    return Local(Fixed(at_once), again).carry_out(shuffled, measure, on_progress)


@dataclass(frozen=True)
class Local:
    """The executor of this machine; see `Executor`."""

    room: Room = field(default_factory=Budget)
    """How many at a time."""
    again: bool = False
    """Also repeat what lies on disk."""

    def carry_out(
        self,
        jobs: Sequence[Job[Key]],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None] | None = None,
        on_refused: Callable[[Key, str], None] | None = None,
    ) -> Carried[Key, Result]:
        """Carry out `jobs`."""
        carried: Carried[Key, Result] = Carried() if self.again else look_up(jobs, measure)
        waiting = [job for job in jobs if job.key not in carried.results]
        forecast = Forecast(len(jobs), len(carried.results), sum(job.duration_s for job in waiting))
        batch = _Batch(carried, measure, on_progress or _ignore, on_refused or _ignore, forecast, self.room)
        batch.tell()
        with ThreadPoolExecutor(self.room.most) as pool:
            try:
                batch.all(waiting, pool)
            except KeyboardInterrupt:
                batch.stop()
                what = f"interrupted after {len(carried.results)} of {len(jobs)} runs"
                raise Interrupted(what, "they are kept: the same command goes on from there") from None
            except BaseException:
                batch.stop()
                raise
        return carried


_Attempt = tuple[Run | None, str]
"""What ran, and why it can't be used; empty: it can."""


@dataclass
class _Batch(Generic[Key, Result]):
    """What goes on. Only the thread that asked for it touches this, but for `_stopped`."""

    carried: Carried[Key, Result]
    measure: Callable[[Run], Result]
    on_progress: Callable[[Progress], None]
    on_refused: Callable[[Key, str], None]
    forecast: Forecast
    room: Room
    _stopped: threading.Event = field(default_factory=threading.Event)

    def tell(self) -> None:
        """Say how far all is."""
        self.on_progress(self.forecast.now())

    def stop(self) -> None:
        """End what goes on."""
        self._stopped.set()

    def all(self, jobs: Sequence[Job[Key]], pool: ThreadPoolExecutor) -> None:
        """Begin each as soon as there is room for it, until none is left."""
        waiting = deque((job, 1) for job in jobs)
        going: dict[Future[_Attempt], tuple[Job[Key], int]] = {}
        while waiting or going:
            # In their order, even if a later one would fit: none waits for ever.
            while waiting and self.room.admits(waiting[0][0], len(going)):
                job, attempt = waiting.popleft()
                self.room.begin(job)
                going[pool.submit(self._attempt, job)] = job, attempt
            # Not for ever: a signal that another thread takes does not wake this one, which is to answer it.
            ended, _ = wait(going, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            for future in ended:
                job, attempt = going.pop(future)
                run, why = future.result()
                self.room.end(job, run)
                if self._settle(job, run, why, attempt):
                    waiting.append((job, attempt + 1))
                self.tell()

    def _settle(self, job: Job[Key], run: Run | None, why: str, attempt: int) -> bool:
        """Keep what an attempt has given; whether there is to be another."""
        if run is not None and not why:
            self.carried.results[job.key] = self.measure(run)
        elif attempt < job.attempts:
            self.forecast.repeat()
            return True
        else:
            self.carried.refused[job.key] = why
            self.on_refused(job.key, why)
        self.forecast.end(job.duration_s, not why)
        return False

    def _attempt(self, job: Job[Key]) -> _Attempt:
        try:
            run = run_one(job.scenario, directory=job.directory, on_event=self._watch, engine=job.engine, report=False)
        except RunFailed as error:
            return None, error.what
        if run.verdict == "invalid":
            return run, f"invalid: {', '.join(reason['check'] for reason in run.summary['reasons'])}"
        return run, ""

    def _watch(self, event: Event) -> None:
        """Outside the main thread no signal ends a run: this does, at its next event."""
        if self._stopped.is_set():
            raise Interrupted("the batch was interrupted")


def _ignore(*told: Any) -> None:
    pass
