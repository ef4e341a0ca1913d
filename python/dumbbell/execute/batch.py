"""Carries out a batch of tasks on workers of any kind.

Runs on disk are not repeated, so an interrupted batch continues where it was. Invalid runs are repeated after all
others, up to a limit: the machine may be calmer then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from dumbbell.errors import Interrupted
from dumbbell.execute.job import Carried, Job, Key, Result, look_up
from dumbbell.execute.progress import Forecast, Progress
from dumbbell.records.run import Run

LOOK_EVERY_S: Final = 0.5
"""Limit of each wait: a signal that another thread takes does not wake the thread that handles it."""

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
    settle: Callable[[Ended[Task, Given]], bool],
    look: Callable[[], None] = lambda: None,
) -> None:
    """Begin each task as soon as there is room for it. Tasks begin in order, even if a later one would fit: no task
    waits for ever.

    `settle` gets each attempt that has ended, and returns whether to repeat it after all others; `look` is called twice
    a second. An exception in either, or here, ends all tasks.
    """
    waiting = deque(tasks)
    going = 0
    try:
        while waiting or going:
            while waiting and workers.admits(waiting[0]):
                workers.begin(waiting.popleft())
                going += 1
            look()
            for one in workers.ended(LOOK_EVERY_S):
                going -= 1
                if one.lost:
                    waiting.appendleft(one.task)
                elif settle(one):
                    waiting.append(one.task)
    except BaseException:
        workers.stop()
        raise


def carry_out(
    jobs: Sequence[Job[Key]],
    workers: Workers[Job[Key], Run],
    measure: Callable[[Run], Result],
    on_progress: Callable[[Progress], None] | None = None,
    on_refused: Callable[[Key, str], None] | None = None,
    again: bool = False,
) -> Carried[Key, Result]:
    """Carry out `jobs`, as `Executor.carry_out` says. `again`: also repeat runs on disk."""
    tell, refuse = on_progress or _ignore, on_refused or _ignore
    carried: Carried[Key, Result] = Carried() if again else look_up(jobs, measure)
    waiting = [job for job in jobs if job.key not in carried.results]
    forecast = Forecast(len(jobs), len(carried.results), sum(job.duration_s for job in waiting))
    attempts: dict[Key, int] = {}

    def settle(one: Ended[Job[Key], Run]) -> bool:
        job = one.task
        attempts[job.key] = attempts.get(job.key, 0) + 1
        again = False
        if one.given is not None and not one.why:
            carried.results[job.key] = measure(one.given)
            forecast.end(job.duration_s, usable=True)
        elif attempts[job.key] < job.attempts:
            forecast.repeat()
            again = True
        else:
            carried.refused[job.key] = one.why
            refuse(job.key, one.why)
            forecast.end(job.duration_s, usable=False)
        tell(forecast.now())
        return again

    tell(forecast.now())
    try:
        all_of(waiting, workers, settle)
    except KeyboardInterrupt:
        what = f"interrupted after {len(carried.results)} of {len(jobs)} runs"
        raise Interrupted(what, "they are kept: the same command continues from there") from None
    return carried


def unusable(run: Run) -> str:
    """Why a run is unusable; empty: it is usable."""
    if run.verdict != "invalid":
        return ""
    return f"invalid: {', '.join(reason['check'] for reason in run.summary['reasons'])}"


def _ignore(*told: Any) -> None:
    pass
