"""Runs that the machine disturbed are carried out again: which, how often, and what is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine, scenario

from dumbbell.analysis.machine import MACHINE, disturbed
from dumbbell.analysis.verdict import RULES
from dumbbell.execute import Fixed, Job, Local, Progress
from dumbbell.execute.batch import EACH, IN_VAIN, Redo
from dumbbell.records import Run
from dumbbell.scenario import load


def machine(outcomes: Iterable[str]) -> FakeEngine:
    """An engine whose attempts have these outcomes: `valid`, `late` (suspect), `held` (suspect, the scenario's doing),
    `lost` (invalid) or `failed`. Then all are valid."""
    given = list(outcomes)
    left = iter(given)

    def change(plan: Any, files: Any) -> None:
        outcome = next((one for one in left if one != "failed"), "valid")
        if outcome == "late":
            files["emulator.json"]["lateness_us"]["max"] = 20_000.0
        elif outcome == "held":
            files["emulator.json"]["unroutable_packets"] = 1
        elif outcome == "lost":
            files["emulator.json"]["ring_drops"] = 1

    return FakeEngine(["failed" if one == "failed" else "valid" for one in given], change=change)


def jobs(engine: FakeEngine, directory: Path, count: int = 1, again: bool = False) -> list[Job[int]]:
    return [Job(i, load(scenario(seed=i)), engine, directory, again=again) for i in range(1, count + 1)]


def carry_out(wanted: list[Job[int]], redo: bool = True) -> tuple[dict[int, str], list[str], list[Progress]]:
    """Verdict of each run, verdicts in the order in which they were measured, and the progress."""
    measured, told = list[str](), list[Progress]()

    def measure(run: Run) -> str:
        measured.append(run.verdict)
        return run.verdict

    carried = Local(Fixed(1)).run_jobs(wanted, measure, told.append, redo=redo)
    return carried.results, measured, told


def test_the_rules_of_the_machine_exist() -> None:
    assert {rule.name for rule in RULES} > MACHINE


def test_a_run_is_disturbed_if_it_breaks_rules_of_the_machine_and_no_others() -> None:
    assert disturbed("suspect", ["stall", "lateness"])
    assert not disturbed("suspect", ["stall", "window-limits"])
    assert not disturbed("suspect", [])
    assert not disturbed("invalid", ["stall"])
    assert not disturbed("valid", [])
    assert not disturbed(None, ["stall"])


def test_a_disturbed_run_is_done_again_after_all_others(tmp_path: Path) -> None:
    engine = machine(["late"])
    found, measured, told = carry_out(jobs(engine, tmp_path, 3))
    assert [seed for _, seed in engine.executed] == [1, 2, 3, 1]
    assert found == dict.fromkeys((1, 2, 3), "valid")
    assert measured == ["suspect", "valid", "valid", "valid"]
    assert [(one.done, one.redone) for one in told] == [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1)]
    assert told[-1].left_s == pytest.approx(0)
    assert len(list(tmp_path.glob("*.1"))) == 1, "the disturbed attempt is kept"


def test_not_if_it_is_switched_off(tmp_path: Path) -> None:
    engine = machine(["late"])
    found, _, _ = carry_out(jobs(engine, tmp_path, 2), redo=False)
    assert found == {1: "suspect", 2: "valid"}
    assert len(engine.executed) == 2


def test_not_if_the_scenario_is_to_blame(tmp_path: Path) -> None:
    engine = machine(["held"])
    assert carry_out(jobs(engine, tmp_path))[0] == {1: "suspect"}
    assert len(engine.executed) == 1


def test_a_few_times_and_then_it_stays_suspect(tmp_path: Path) -> None:
    engine = machine(["late"] * 9)
    assert carry_out(jobs(engine, tmp_path))[0] == {1: "suspect"}
    assert len(engine.executed) == 1 + EACH


def test_a_machine_that_is_never_quiet_ends_all_the_same(tmp_path: Path) -> None:
    engine = machine(["late"] * 99)
    found, _, told = carry_out(jobs(engine, tmp_path, 8))
    assert set(found.values()) == {"suspect"}
    assert len(engine.executed) == 8 + IN_VAIN
    assert (told[-1].done, told[-1].redone, told[-1].left_s) == (8, IN_VAIN, pytest.approx(0))


@pytest.mark.parametrize("worse", ["lost", "failed"])
def test_a_worse_attempt_does_not_replace_the_run(tmp_path: Path, worse: str) -> None:
    engine = machine(["late", worse])
    (job,) = jobs(engine, tmp_path)
    found, measured, _ = carry_out([job])
    assert (found, measured) == ({1: "suspect"}, ["suspect"])
    assert len(engine.executed) == 2
    assert Run(tmp_path / job.stem).verdict == "suspect"
    kept = [path.name.removeprefix(job.stem) for path in tmp_path.glob(f"{job.stem}.*")]
    assert kept == [".1" if worse == "lost" else ".failed-1"]
    if worse == "lost":
        assert Run(tmp_path / f"{job.stem}.1").verdict == "invalid"


def test_a_run_on_disk_is_done_again_if_that_is_asked_for(tmp_path: Path) -> None:
    carry_out(jobs(machine(["late"]), tmp_path), redo=False)
    engine = machine([])
    assert carry_out(jobs(engine, tmp_path, again=True))[0] == {1: "valid"}
    assert len(engine.executed) == 1


def test_further_attempts_that_succeed_are_not_counted_against_it() -> None:
    redo = Redo(runs=10)
    for key in range(50):
        assert redo.wants(key, "suspect", ["stall"])
        redo.end(key, valid=True)
    assert (redo.redone, redo.valid, redo.is_over) == (50, 50, False)
    assert not redo.wants(99, "valid", [])
    assert not redo.wants(99, "suspect", ["stall", "window-limits"])
    assert not redo.wants(99, "invalid", ["stall"])


def test_where_only_valid_runs_count_a_suspect_one_is_repeated_and_not_found_on_disk(tmp_path: Path) -> None:
    suspect = machine(["late"])
    assert carry_out(jobs(suspect, tmp_path), redo=False)[0] == {1: "suspect"}
    engine = machine(["late", "late"])
    wanted = [replace(job, only_valid=True) for job in jobs(engine, tmp_path)]
    assert carry_out(wanted, redo=False)[0] == {1: "valid"}
    assert len(engine.executed) == 3


def test_where_only_valid_runs_count_the_last_suspect_attempt_says_why_it_is_refused(tmp_path: Path) -> None:
    wanted = [replace(job, only_valid=True, attempts=2) for job in jobs(machine(["late", "late"]), tmp_path)]
    carried = Local(Fixed(1)).run_jobs(wanted, lambda run: run.verdict)
    assert carried.results == {}
    assert carried.refused == {1: "suspect: stall"}
