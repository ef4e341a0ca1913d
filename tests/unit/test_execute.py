"""Many runs: what is on disk is kept, what is invalid is repeated, and an end comes at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine, Files, scenario

from dumbbell.errors import Interrupted, Problem, ScenarioError
from dumbbell.execute import Carried, Job, Progress, look_up, run_jobs
from dumbbell.execute.progress import Forecast
from dumbbell.plan.types import Plan
from dumbbell.records import Run
from dumbbell.scenario import load


def jobs(engine: FakeEngine, directory: Path, seeds: Sequence[int] = (1, 2, 3), attempts: int = 4) -> list[Job[int]]:
    return [Job(seed, load(scenario(seed=seed)), engine, directory, attempts) for seed in seeds]


def seed(run: Run) -> int:
    return run.plan.seed


def test_each_is_run_once_and_measured(tmp_path: Path) -> None:
    engine = FakeEngine()
    carried = run_jobs(jobs(engine, tmp_path), seed)
    assert carried == Carried({1: 1, 2: 2, 3: 3}, {})
    assert sorted(number for _, number in engine.executed) == [1, 2, 3]


def test_no_report_is_written(tmp_path: Path) -> None:
    found = run_jobs(jobs(FakeEngine(), tmp_path, [1]), lambda run: run.directory)
    assert not (found.results[1] / "report.html").exists()


def test_what_is_on_disk_is_not_repeated(tmp_path: Path) -> None:
    run_jobs(jobs(FakeEngine(), tmp_path, [1, 3]), seed)
    engine = FakeEngine()
    carried = run_jobs(jobs(engine, tmp_path), seed)
    assert [number for _, number in engine.executed] == [2]
    assert carried.results == {1: 1, 2: 2, 3: 3}
    assert run_jobs(jobs(engine, tmp_path), seed, again=True).results == {1: 1, 2: 2, 3: 3}
    assert len(engine.executed) == 4


def test_an_invalid_run_on_disk_is_repeated(tmp_path: Path) -> None:
    run_jobs(jobs(FakeEngine(["invalid"]), tmp_path, [1], attempts=1), seed)
    engine = FakeEngine()
    assert run_jobs(jobs(engine, tmp_path, [1]), seed).results == {1: 1}
    assert len(engine.executed) == 1


def test_looking_up_runs_nothing(tmp_path: Path) -> None:
    run_jobs(jobs(FakeEngine(), tmp_path, [2]), seed)
    engine = FakeEngine()
    assert look_up(jobs(engine, tmp_path), seed).results == {2: 2}
    assert engine.executed == []


@pytest.mark.parametrize("kind", ["invalid", "failed"])
def test_what_cannot_be_used_is_repeated(kind: str, tmp_path: Path) -> None:
    engine, told = FakeEngine([kind, kind]), list[Progress]()
    carried = run_jobs(jobs(engine, tmp_path, [1]), seed, on_progress=told.append)
    assert carried.results == {1: 1}
    assert len(engine.executed) == 3
    assert [(one.done, one.repeated) for one in told] == [(0, 0), (0, 1), (0, 2), (1, 2)]


def test_after_enough_attempts_it_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    measured, told = list[int](), list[Progress]()
    carried = run_jobs(
        # The second attempt comes after all others.
        jobs(FakeEngine(["invalid", "valid", "valid", "invalid"]), tmp_path, attempts=2),
        lambda run: measured.append(seed(run)),
        on_progress=told.append,
    )
    ((given_up, why),) = carried.refused.items()
    assert why == "invalid: ring-drops"
    assert set(carried.results) == {1, 2, 3} - {given_up} == set(measured)
    assert (told[-1].done, told[-1].refused, told[-1].total) == (2, 1, 3)


def test_the_order_is_random_and_the_same_each_time(tmp_path: Path) -> None:
    first, second = FakeEngine(), FakeEngine()
    for engine, place in ((first, "a"), (second, "b")):
        run_jobs(jobs(engine, tmp_path / place, range(8)), seed)
    assert first.executed == second.executed != sorted(first.executed)


def test_several_at_once_and_no_more(tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=30)

    def meet(plan: Any, files: Any) -> None:
        meeting.wait()

    engine = FakeEngine(change=meet)
    run_jobs(jobs(engine, tmp_path, range(4)), seed, at_once=2)
    assert engine.most_at_once == 2


def test_what_an_engine_refuses_ends_all(tmp_path: Path) -> None:
    engine = FakeEngine(problems=[Problem("no such thing here")])
    with pytest.raises(ScenarioError, match="no such thing here"):
        run_jobs(jobs(engine, tmp_path), seed)
    assert engine.executed == []


def test_an_interrupt_ends_what_goes_on_and_keeps_what_is_complete(tmp_path: Path) -> None:
    engine = FakeEngine(["valid", "interrupted"])
    with pytest.raises(Interrupted, match="after 1 of 3 runs"):
        run_jobs(jobs(engine, tmp_path), seed)
    assert len(engine.executed) == 2
    assert len(look_up(jobs(engine, tmp_path), seed).results) == 1
    assert len(list(tmp_path.glob("*.failed-1"))) == 1


def test_a_run_whose_traffic_was_over_at_an_interrupt_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = threading.Event()

    def interrupted(number: int, frame: object) -> None:
        came.set()
        raise KeyboardInterrupt

    def interrupt(plan: Plan, files: Files) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert came.wait(60)
        time.sleep(0.2)  # Then the batch is ending, and the run's last event comes.

    former = signal.signal(signal.SIGINT, interrupted)
    try:
        with pytest.raises(Interrupted, match="after 0 of 3 runs"):
            run_jobs(jobs(FakeEngine(change=interrupt), tmp_path), seed)
    finally:
        signal.signal(signal.SIGINT, former)
    assert not list(tmp_path.glob("*.failed-1"))
    assert len(look_up(jobs(FakeEngine(), tmp_path), seed).results) == 1


def test_the_forecast_follows_the_work_that_is_left() -> None:
    """10 s of runs took 30 s, a repetition among them: the other 20 s take 60."""
    now = [0.0]
    forecast = Forecast(total=5, kept=1, work_s=30, clock=lambda: now[0])
    assert forecast.now() == Progress(1, 5, 0, 0, None)
    now[0] = 30
    forecast.repeat()
    forecast.end(10, usable=True)
    assert forecast.now() == Progress(2, 5, 1, 0, 60)
    forecast.end(20, usable=False)
    assert forecast.now() == Progress(2, 5, 1, 1, 0)


def test_progress_in_words() -> None:
    assert str(Progress(0, 7, 0, 0, None)) == "0 of 7 runs"
    assert str(Progress(3, 7, 2, 1, 0.0)).startswith("3 of 7 runs, 2 repeated, 1 given up; done at about ")
    assert str(Progress(6, 7, 0, 1, 5.0)) == "6 of 7 runs, 1 given up"
