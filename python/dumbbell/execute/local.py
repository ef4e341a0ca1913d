"""Carry out many runs on this machine, several at once.

What lies on disk is not repeated, so a batch that was cut short goes on where it was. What is invalid is repeated, up
to a limit. The order is random, so that a slow spell of the machine doesn't fall on one kind of run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from dumbbell.engines.protocol import Engine, Event
from dumbbell.engines.run import run as run_one
from dumbbell.errors import InputError, Interrupted, RunFailed
from dumbbell.execute.progress import Forecast, Progress
from dumbbell.plan import expand, run_id
from dumbbell.records.manifest import core_version
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

ATTEMPTS = 4
"""A machine that is too busy says so in the verdict. Three more chances: it may be for a while."""


_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Job(Generic[Key]):
    """A run that is wanted."""

    key: Key
    scenario: Scenario
    engine: Engine
    directory: Path
    """Where runs are kept; this one's own is below it."""
    attempts: int = ATTEMPTS
    """At most; one is enough where every attempt gives the same."""


@dataclass
class Carried(Generic[Key, Result]):
    """What became of them."""

    results: dict[Key, Result] = field(default_factory=dict)
    """Of runs that are valid or suspect."""
    refused: dict[Key, str] = field(default_factory=dict)
    """Why no attempt of the others can be used."""


def carry_out(
    jobs: Sequence[Job[Key]],
    measure: Callable[[Run], Result],
    at_once: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
    again: bool = False,
) -> Carried[Key, Result]:
    """Carry out `jobs`, `at_once` at a time, and `measure` each run that is not invalid.

    No report is written: `Run.report` makes one when somebody asks for it.

    Args:
        jobs: with different keys, and no plan twice in one directory.
        measure: called once for each run that can be used, one at a time.
        at_once: how many runs at a time.
        on_progress: told after each attempt, and once before the first.
        again: also repeat what lies on disk.

    Raises:
        InputError: a run is refused. The others that were going on have been ended.
        Interrupted: Ctrl-C. What is complete is kept.
    """
    carried: Carried[Key, Result] = Carried() if again else look_up(jobs, measure)
    waiting = [job for job in jobs if job.key not in carried.results]
    Random(1).shuffle(waiting)
    work = _Work(
        carried, measure, on_progress or _ignore, Forecast(len(jobs), len(carried.results), _length_s(waiting))
    )
    work.tell()
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(work.do, job) for job in waiting]
        try:
            _wait(futures)
        except KeyboardInterrupt:
            work.stop(futures)
            what = f"interrupted after {len(carried.results)} of {len(jobs)} runs"
            raise Interrupted(what, "they are kept: the same command goes on from there") from None
        except BaseException:
            work.stop(futures)
            raise
    return carried


def look_up(jobs: Sequence[Job[Key]], measure: Callable[[Run], Result]) -> Carried[Key, Result]:
    """What lies on disk of `jobs` and can be used. Nothing is run."""
    found = ((job.key, _earlier(job)) for job in jobs)
    return Carried({key: measure(run) for key, run in found if run is not None})


class _Work(Generic[Key, Result]):
    """What the threads share."""

    def __init__(
        self,
        carried: Carried[Key, Result],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None],
        forecast: Forecast,
    ) -> None:
        self._carried, self._measure, self._on_progress, self._forecast = carried, measure, on_progress, forecast
        self._turn = threading.Lock()
        self._stopped = threading.Event()

    def tell(self) -> None:
        """Say how far all is."""
        self._on_progress(self._forecast.now())

    def stop(self, futures: Sequence[Future[None]]) -> None:
        """Begin nothing more, and end what goes on."""
        for future in futures:
            future.cancel()
        self._stopped.set()

    def do(self, job: Job[Key]) -> None:
        """Run until a run can be used, or there have been enough attempts."""
        reason = ""
        for attempt in range(1, job.attempts + 1):
            run, reason = self._attempt(job)
            with self._turn:
                if run is not None:
                    self._carried.results[job.key] = self._measure(run)
                elif attempt < job.attempts:
                    self._forecast.repeat()
                else:
                    self._carried.refused[job.key] = reason
                if run is not None or attempt == job.attempts:
                    self._forecast.end(_duration_s(job), run is not None)
                self.tell()
            if run is not None:
                return

    def _attempt(self, job: Job[Key]) -> tuple[Run | None, str]:
        """A run that can be used, or why this one can't."""
        try:
            run = run_one(job.scenario, directory=job.directory, on_event=self._watch, engine=job.engine, report=False)
        except RunFailed as error:
            return None, error.what
        if run.verdict == "invalid":
            return None, f"invalid: {', '.join(reason['check'] for reason in run.summary['reasons'])}"
        return run, ""

    def _watch(self, event: Event) -> None:
        """Outside the main thread no signal ends a run: this does, at its next event."""
        if self._stopped.is_set():
            raise Interrupted("the batch was interrupted")


def _earlier(job: Job[Key]) -> Run | None:
    """A run on disk that can be used."""
    identity = run_id(expand(job.scenario), job.engine.name, core_version() or "none")
    directory = job.directory / f"{job.scenario.name}-{identity}"
    if not directory.exists():
        return None
    try:
        run = Run(directory)
    except InputError:
        # Of another version, or broken: a new one moves it out of the way.
        return None
    return None if run.verdict == "invalid" else run


def _wait(futures: Sequence[Future[None]]) -> None:
    """Until all are through. Raises what the first raises that fails."""
    left = set(futures)
    while left:
        # Not for ever: a signal that another thread takes does not wake this one, which is to answer it.
        ended, left = wait(left, timeout=_LOOK_EVERY_S, return_when=FIRST_EXCEPTION)
        for future in ended:
            future.result()


def _length_s(jobs: Sequence[Job[Key]]) -> float:
    return sum(_duration_s(job) for job in jobs)


def _duration_s(job: Job[Key]) -> float:
    return float(job.scenario.duration) / 1e9


def _ignore(progress: Progress) -> None:
    pass
