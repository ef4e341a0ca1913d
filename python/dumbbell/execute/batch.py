"""Carries out a batch of tasks on workers of any kind.

Runs on disk are not repeated, so an interrupted batch continues where it was. Invalid runs, and runs that the machine
disturbed, are repeated after all others, up to a limit: the machine may be calmer then.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, Protocol, TypeVar

from dumbbell.analysis.machine import disturbed
from dumbbell.counts import count
from dumbbell.errors import Interrupted
from dumbbell.execute.job import Carried, Job, Key, Result, look_up
from dumbbell.execute.progress import Forecast, Progress
from dumbbell.frozen import dataclass
from dumbbell.records.directory import put_back
from dumbbell.records.run import Run

LOOK_EVERY_S: Final = 0.5
"""Limit of each wait: a signal that another thread takes does not wake the thread that handles it."""
EACH: Final = 2
"""The most further attempts of a run."""
IN_VAIN: Final = 4
"""Further attempts that may be suspect again, in any study ..."""
IN_VAIN_OF_RUNS: Final = 10
"""... and one more for each of this many runs."""

Task = TypeVar("Task")
Given = TypeVar("Given")


@dataclass(frozen=True)
class Ended(Generic[Task, Given]):
    """An attempt that has ended."""

    task: Task
    given: Given | None
    """The attempt's result; `None`: it failed."""
    why: str = ""
    """Why the result is unusable; empty: it is usable."""
    lost: bool = False
    """True if the task was lost with its machine. The task is not at fault, and begins again before all others."""


class Redo:
    """Decides by their verdicts which runs that the machine disturbed are carried out again, and counts.

    A study on a machine that is never quiet ends all the same: each run gets few more attempts, and the study few that
    are in vain.
    """

    def __init__(self, runs: int) -> None:
        """The decisions about a batch of `runs`."""
        self.redone = 0
        """Further attempts that have ended."""
        self.valid = 0
        """Runs that are valid after all."""
        self._in_vain = IN_VAIN + runs // IN_VAIN_OF_RUNS
        self._attempts: Counter[Hashable] = Counter()

    @property
    def is_over(self) -> bool:
        """True if too many attempts were in vain: this machine disturbs runs whatever runs beside them."""
        return self._in_vain <= 0

    def wants(self, key: Hashable, verdict: str, checks: Collection[str]) -> bool:
        """True if the run gets another attempt. `checks`: those that it did not pass."""
        return disturbed(verdict, checks) and not self.is_over and self._attempts[key] < EACH

    def end(self, key: Hashable, valid: bool) -> None:
        """Count a further attempt."""
        self._attempts[key] += 1
        self.redone += 1
        self.valid += valid
        self._in_vain -= not valid


class Workers(Protocol[Task, Given]):
    """Workers that carry out tasks: threads of this machine, or the nodes of a cluster."""

    def admits(self, task: Task) -> bool:
        """True if `task` may begin beside those in progress; a task alone always may."""
        ...

    def begin(self, task: Task) -> None:
        """Begin an attempt."""
        ...

    def ended(self, timeout_s: float) -> Iterable[Ended[Task, Given]]:
        """Returns the attempts that have ended since the last call; waits for one, at most `timeout_s`."""
        ...

    def stop(self) -> None:
        """End the attempts in progress, and wait until they have ended."""
        ...


def all_of(
    tasks: Iterable[Task],
    workers: Workers[Task, Given],
    settle: Callable[[Ended[Task, Given]], Task | None],
    look: Callable[[], None] = lambda: None,
    drop: Callable[[Task], bool] = lambda task: False,
) -> None:
    """Begin each task as soon as there is room for it. Tasks begin in order, even if a later one would fit: no task
    waits for ever.

    `settle` gets each attempt that has ended, and returns the task that follows from it, which begins after all others;
    `look` is called twice a second; a task that `drop` is true of does not begin when its turn comes. An exception in
    any, or here, ends all tasks.
    """
    waiting = deque(tasks)
    going = 0
    try:
        while waiting or going:
            while waiting:
                if drop(waiting[0]):
                    waiting.popleft()
                elif workers.admits(waiting[0]):
                    workers.begin(waiting.popleft())
                    going += 1
                else:
                    break
            look()
            if not (waiting or going):
                return
            for one in workers.ended(LOOK_EVERY_S):
                going -= 1
                if one.lost:
                    waiting.appendleft(one.task)
                elif (more := settle(one)) is not None:
                    waiting.append(more)
    except BaseException:
        workers.stop()
        raise


def run_jobs(
    jobs: Sequence[Job[Key]],
    workers: Workers[Job[Key], Run],
    measure: Callable[[Run], Result],
    on_progress: Callable[[Progress], None] | None = None,
    on_refused: Callable[[Key, str], None] | None = None,
    again: bool = False,
    redo: bool = False,
) -> Carried[Key, Result]:
    """Carry out `jobs`, as `Executor.run_jobs` says. `again`: also repeat runs on disk."""
    batch = _Batch(jobs, measure, on_progress or _ignore, on_refused or _ignore, again, redo)
    batch.tell()
    try:
        all_of(batch.waiting, workers, batch.settle, drop=batch.drop)
    except KeyboardInterrupt:
        what = f"interrupted after {len(batch.carried.results):,} of {count(len(jobs), 'run')}"
        raise Interrupted(what, "they are kept: the same command continues from there") from None
    batch.carried.redone, batch.carried.cured = batch.redo.redone, batch.redo.valid
    return batch.carried


class _Batch(Generic[Key, Result]):
    """The outcomes of jobs so far, and what follows from each attempt."""

    def __init__(
        self,
        jobs: Sequence[Job[Key]],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None],
        on_refused: Callable[[Key, str], None],
        again: bool,
        redo: bool,
    ) -> None:
        self._measure, self._on_progress, self._on_refused = measure, on_progress, on_refused
        self.carried: Carried[Key, Result] = Carried() if again else look_up(jobs, measure)
        self.waiting = [job for job in jobs if job.key not in self.carried.results]
        work_s = sum(job.duration_s for job in self.waiting)
        self._forecast = Forecast(len(jobs), len(self.carried.results), work_s)
        self._attempts: Counter[Key] = Counter()
        self._redoes, self.redo = redo, Redo(len(jobs))

    def tell(self) -> None:
        self._on_progress(self._forecast.now())

    def settle(self, ended: Ended[Job[Key], Run]) -> Job[Key] | None:
        """Take an attempt that has ended. Returns what to do after all others."""
        more = self._settle(ended)
        self.tell()
        return more

    def drop(self, job: Job[Key]) -> bool:
        """True for a further attempt that is not worth it any more."""
        if not (job.again and job.key in self.carried.results and self.redo.is_over):
            return False
        self._forecast.redo(job.duration_s, made=False)
        self.tell()
        return True

    def _settle(self, ended: Ended[Job[Key], Run]) -> Job[Key] | None:
        job, run = ended.task, ended.given
        if job.again:
            return self._redone(job, run, ended.why)
        self._attempts[job.key] += 1
        if run is not None and not ended.why:
            self.carried.results[job.key] = self._measure(run)
            self._forecast.end(job.duration_s, usable=True)
            return self._once_more(job, run)
        if self._attempts[job.key] < job.attempts:
            self._forecast.repeat()
            return job
        self.carried.refused[job.key] = ended.why
        self._on_refused(job.key, ended.why)
        self._forecast.end(job.duration_s, usable=False)
        return None

    def _redone(self, job: Job[Key], run: Run | None, why: str) -> Job[Key] | None:
        """After a further attempt, of two equal ones the later counts: values have no part in the choice."""
        usable = run is not None and not why
        self.redo.end(job.key, usable and run is not None and run.verdict == "valid")
        if run is not None and why:
            put_back(job.directory, job.stem)
        first = job.key not in self.carried.results
        if run is not None and usable:
            self.carried.results[job.key] = self._measure(run)
        if first:
            # The batch began with a run on disk.
            self._forecast.end(job.duration_s, usable=True)
        else:
            self._forecast.redo(job.duration_s, made=True)
        return self._once_more(job, run) if run is not None and usable else None

    def _once_more(self, job: Job[Key], run: Run) -> Job[Key] | None:
        checks = {reason["check"] for reason in run.summary["reasons"]}
        if not (self._redoes and self.redo.wants(job.key, run.verdict, checks)):
            return None
        self._forecast.add(job.duration_s)
        return replace(job, again=True)


def _ignore(*event: Any) -> None:
    pass
