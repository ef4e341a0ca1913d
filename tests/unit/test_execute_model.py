"""Studies on a model of a machine, in virtual time: the default against one run at a time, valid runs and time.

Up to `room` runs at a time go undisturbed, apart from a share that something else on the machine disturbs.
`benches.studies.parallel` does the same with real runs, on the machine that it runs on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from fake_engine import FakeEngine, scenario

from dumbbell.execute import Budget, Fixed, Job
from dumbbell.execute.batch import Ended, run_jobs
from dumbbell.scenario import load

LASTS_S = 5.0


@dataclass
class Machine:
    """Workers whose runs all last as long; whether one is disturbed depends on how many go on beside it."""

    limit: Budget | Fixed
    room: int
    noise: float
    random: Random = field(default_factory=lambda: Random(1))
    now_s: float = 0.0
    attempts: int = 0
    going: list[tuple[float, Job[int]]] = field(default_factory=list)
    most: dict[int, int] = field(default_factory=dict)

    def admits(self, task: Job[int]) -> bool:
        return self.limit.admits(task, len(self.going))

    def begin(self, task: Job[int]) -> None:
        self.limit.begin(task)
        self.attempts += 1
        # Building a lab takes a while that differs: runs don't end at the same time.
        self.going.append((self.now_s + LASTS_S + self.random.random(), task))
        self.most[task.key] = 0
        self.most |= {job.key: max(self.most[job.key], len(self.going)) for _, job in self.going}

    def ended(self, timeout_s: float) -> Iterable[Ended[Job[int], Any]]:
        first = min(self.going, key=lambda one: one[0])
        self.going.remove(first)
        self.now_s, job = first
        disturbed = self.most[job.key] > self.room or self.random.random() < self.noise
        reasons = [{"check": "lateness"}] if disturbed else []
        run = SimpleNamespace(verdict="suspect" if disturbed else "valid", summary={"reasons": reasons}, manifest={})
        self.limit.end(job, run)  # type: ignore[arg-type]
        yield Ended(job, run)

    def stop(self) -> None:
        raise AssertionError("nothing goes wrong")


def study(runs: int, limit: Budget | Fixed, room: int, noise: float, redo: bool) -> tuple[float, float, Machine]:
    """The share of valid runs, and how long it took."""
    machine = Machine(limit, room, noise)
    known = load(scenario())
    jobs = [Job(i, known, FakeEngine(), Path("nowhere"), cores=0.2) for i in range(runs)]
    found = run_jobs(jobs, machine, lambda run: run.verdict, again=True, redo=redo)
    assert len(found.results) == runs
    return list(found.results.values()).count("valid") / runs, machine.now_s, machine


SMALL = [(8, 3, 0.0), (8, 2, 0.1), (9, 7, 0.0), (12, 3, 0.05), (6, 2, 0.3)]
LARGE = [(160, 4, 0.02), (400, 6, 0.05)]


@pytest.mark.parametrize(("runs", "room", "noise"), SMALL + LARGE)
def test_as_many_runs_are_valid_as_one_at_a_time_and_it_takes_less_time(runs: int, room: int, noise: float) -> None:
    once, _, _ = study(runs, Fixed(1), room, noise, redo=False)
    one, took_one_s, _ = study(runs, Fixed(1), room, noise, redo=True)
    valid, took_s, machine = study(runs, Budget(cores=2), room, noise, redo=True)
    assert valid >= one >= once
    assert valid == 1
    assert took_s < took_one_s * (0.95 if runs < 20 else 0.5)
    assert machine.attempts < 1.1 * runs + 6


def test_a_machine_with_room_for_one_run_loses_little_time() -> None:
    _, took_one_s, _ = study(40, Fixed(1), 1, 0.0, redo=False)
    valid, took_s, _ = study(40, Budget(cores=2), 1, 0.0, redo=True)
    assert valid == 1
    assert took_s < 1.25 * took_one_s


def test_a_machine_that_disturbs_every_run_ends_the_study_all_the_same() -> None:
    _, took_one_s, _ = study(40, Fixed(1), 9, 1.0, redo=False)
    valid, took_s, machine = study(40, Budget(cores=2), 9, 1.0, redo=True)
    assert (valid, machine.attempts) == (0, 40 + 4 + 4)
    assert took_s < 1.3 * took_one_s


def test_on_many_cores_it_begins_with_many() -> None:
    _, took_s, machine = study(64, Budget(cores=64), 64, 0.0, redo=True)
    assert machine.attempts == 64
    assert took_s < 3 * LASTS_S
