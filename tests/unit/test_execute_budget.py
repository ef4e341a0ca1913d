"""The budget of parallel runs: their needs, and the lessons from those that end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_engine import FakeEngine, scenario
from planning import planned

from dumbbell.execute import Budget, Fixed, Job, Local, Progress
from dumbbell.execute.budget import CEILING, START
from dumbbell.execute.cost import LEAST, UNLIMITED, cores, measured
from dumbbell.plan.types import UdpWorkload
from dumbbell.scenario import load


def job(key: int, cores: float = 0.5, kind: Any = None) -> Job[int]:
    return Job(key, load(scenario(seed=key)), FakeEngine(), Path("nowhere"), kind=kind, cores=cores)


def ended(verdict: str = "valid", reasons: Sequence[str] = (), cost: float | None = None) -> Any:
    """The parts of a run that a budget looks at."""
    cost_of = (
        {}
        if cost is None
        else {
            "emulator": cost,
            "busy_wait": 0.0,
            "traffic": 0.0,
            "logging": 0.0,
            "acks": None,
        }
    )
    told = {"reasons": [{"check": reason} for reason in reasons]}
    return SimpleNamespace(verdict=verdict, summary=told, manifest={"cost": cost_of})


def fill(budget: Budget, jobs: Sequence[Job[int]]) -> int:
    """Begin as many as there is room for; how many."""
    begun = 0
    while begun < len(jobs) and budget.admits(jobs[begun], begun):
        budget.begin(jobs[begun])
        begun += 1
    return begun


def test_what_runs_need_is_shared_out() -> None:
    budget = Budget(cores=2)
    assert budget.cores == 2 * START
    assert fill(budget, [job(i, 0.5) for i in range(9)]) == 3
    assert budget.at_once(job(9, 0.5)) == 3


def test_a_run_that_needs_more_than_there_is_goes_alone() -> None:
    budget = Budget(cores=1)
    assert fill(budget, [job(i, 9) for i in range(3)]) == 1
    assert budget.at_once(job(9, 9)) == 1


def test_disturbed_runs_leave_more_room_to_the_others() -> None:
    budget = Budget(cores=4)
    jobs = [job(i) for i in range(20)]
    assert fill(budget, jobs) == 6
    budget.end(jobs[0], ended("invalid", ["lateness", "window-limits"]))
    after = budget.cores
    assert after == pytest.approx(4 * START * 0.6)
    # Those that ran beside it saw the same crowd.
    budget.end(jobs[1], ended("invalid", ["ring-drops"]))
    budget.end(jobs[2], ended("suspect", ["emulator-starved"]))
    assert budget.cores == after


@pytest.mark.parametrize("reasons", [["window-limits"], ["steal", "stall"]])
def test_what_company_does_not_cause_changes_nothing(reasons: list[str]) -> None:
    budget = Budget(cores=4)
    jobs = [job(i) for i in range(2)]
    fill(budget, jobs)
    budget.end(jobs[0], ended("suspect", reasons))
    assert budget.cores == 4 * START


def test_a_run_alone_has_nobody_to_blame() -> None:
    budget = Budget(cores=4)
    budget.begin(job(1))
    budget.end(job(1), ended("invalid", ["lateness"]))
    assert budget.cores == 4 * START


def test_where_runs_are_suspect_alone_company_is_not_blamed_for_it() -> None:
    """Fewer and fewer at a time, until one alone shows that it was not the crowd."""
    budget = Budget(cores=2)
    disturbed = ended("suspect", ["lateness"])
    for round_ in range(20):
        jobs = [job(10 * round_ + i, 0.4) for i in range(9)]
        together = fill(budget, jobs)
        for one in jobs[:together]:
            budget.end(one, disturbed)
        if together == 1:
            break
    assert together == 1
    assert budget.cores == 2 * START
    two = [job(i, 0.4) for i in (1, 2)]
    for verdict, after in (("suspect", 1.0), ("invalid", 0.6)):
        fill(budget, two)
        for one in two:
            budget.end(one, ended(verdict, ["lateness"]))
        assert budget.cores == pytest.approx(2 * START * after), verdict


def test_after_a_row_of_valid_runs_there_is_more_room_up_to_a_ceiling() -> None:
    budget = Budget(cores=2)
    budget.begin(job(1))
    budget.end(job(1), ended())
    assert budget.cores == 2 * START
    budget.begin(job(1))
    budget.end(job(1), ended())
    assert budget.cores == pytest.approx(2 * START + 0.2)
    for _ in range(200):
        budget.begin(job(1))
        budget.end(job(1), ended())
    assert budget.cores == 2 * CEILING


def test_what_runs_have_cost_counts_more_than_what_their_plan_says() -> None:
    budget = Budget(cores=2)
    for cost in (0.2, 0.4):
        budget.begin(job(1, 1.5, "kind"))
        budget.end(job(1, 1.5, "kind"), ended(cost=cost))
    assert budget.cost(job(2, 1.5, "kind")) == pytest.approx(0.3)
    assert budget.cost(job(2, 1.5, "other")) == 1.5


def test_a_failed_run_gives_its_share_back() -> None:
    budget = Budget(cores=1)
    jobs = [job(1, 1.0), job(2, 1.0)]
    assert fill(budget, jobs) == 1
    budget.end(jobs[0], None)
    assert budget.admits(jobs[1], 0)
    budget.begin(jobs[1])


def test_the_plan_tells_what_a_run_needs() -> None:
    def need(rate: str, **more: Any) -> float:
        return cores(planned({"rate": rate}, **more))

    assert need("10 Mbit/s") == LEAST
    assert 0.3 < need("50 Mbit/s") < 0.4
    assert 0.5 < need("100 Mbit/s") < 0.7
    # A segment costs less in bursts.
    assert 1 < need("1 Gbit/s") < 2
    assert need("unlimited") == UNLIMITED


def test_udp_needs_what_it_sends() -> None:
    plan = planned({"rate": "300 Mbit/s"})
    datagrams = UdpWorkload(rate_bps=40_000_000, payload_bytes=1472, bytes=None)
    assert cores(replace(plan, flows=(replace(plan.flows[0], workload=datagrams),))) < 0.6


def test_only_emulated_runs_tell_what_they_have_cost() -> None:
    assert measured({"cost": {"cpu_s": 1.0}}) is None
    assert measured({}) is None
    assert measured(ended(cost=0.25).manifest) == 0.25
    # What the emulator gives up in company does not count.
    manifest = ended(cost=0.25).manifest
    manifest["cost"]["busy_wait"] = 0.05
    assert measured(manifest) == pytest.approx(0.2)


def test_runs_share_the_machine_as_the_budget_says(tmp_path: Path) -> None:
    """Jobs of a third of a core on one core, of which three quarters are given away: two at a time."""
    engine = FakeEngine(change=lambda plan, files: time.sleep(0.1))
    jobs = [Job(i, load(scenario(seed=i)), engine, tmp_path, cores=1 / 3) for i in range(6)]
    told: list[Progress] = []
    carried = Local(Budget(cores=1)).carry_out(jobs, lambda run: run.verdict, told.append)
    assert set(carried.results) == set(range(6))
    assert engine.most_at_once == 2
    assert told[-1].done == 6


def test_jobs_begin_in_their_order(tmp_path: Path) -> None:
    engine = FakeEngine()
    jobs = [Job(i, load(scenario(seed=i)), engine, tmp_path) for i in (4, 2, 3)]
    Local(Fixed(1)).carry_out(jobs, lambda run: None)
    assert [seed for _, seed in engine.executed] == [4, 2, 3]
