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
from dumbbell.execute.budget import SHARE
from dumbbell.execute.cost import UNLIMITED, beside, cores, measured
from dumbbell.scenario import load
from dumbbell.workloads import UdpWorkload


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


def quiet(budget: Budget, size: int) -> None:
    """Runs of little cost until the window has this size; nothing disturbs them."""
    while budget.window.size < size:
        jobs = [job(i, 0.01) for i in range(budget.window.size)]
        assert fill(budget, jobs) == len(jobs)
        for one in jobs:
            budget.end(one, ended())
    assert budget.window.size == size


def test_each_run_has_cpus_of_its_own_at_first() -> None:
    assert [Budget(cores).window.size for cores in (1, 2, 3, 4, 16)] == [1, 1, 1, 2, 8]
    assert fill(Budget(cores=2), [job(i, 0.01) for i in range(9)]) == 1


def test_what_runs_need_is_shared_out() -> None:
    budget = Budget(cores=2)
    assert budget.cores == 2 * SHARE
    quiet(budget, 5)
    assert fill(budget, [job(i, 0.5) for i in range(9)]) == 3


def test_a_run_that_needs_more_than_there_is_goes_alone() -> None:
    budget = Budget(cores=8)
    assert fill(budget, [job(i, 9) for i in range(3)]) == 1


def test_a_disturbed_run_leaves_room_for_fewer() -> None:
    budget = Budget(cores=4)
    quiet(budget, 6)
    jobs = [job(i, 0.01) for i in range(6)]
    assert fill(budget, jobs) == 6
    budget.end(jobs[0], ended("invalid", ["lateness", "window-limits"]))
    assert budget.window.size == 4
    # Those that ran beside it saw the same crowd.
    budget.end(jobs[1], ended("invalid", ["ring-drops"]))
    budget.end(jobs[2], ended("suspect", ["emulator-starved"]))
    assert budget.window.size == 4


def test_what_the_machine_does_not_cause_changes_nothing() -> None:
    budget = Budget(cores=4)
    quiet(budget, 3)
    jobs = [job(i, 0.01) for i in range(3)]
    fill(budget, jobs)
    budget.end(jobs[0], ended("suspect", ["window-limits"]))
    budget.end(jobs[1], None)
    assert budget.window.size == 3


def test_a_run_that_is_done_again_has_cpus_of_its_own() -> None:
    budget = Budget(cores=4)
    quiet(budget, 5)
    again = [replace(job(i, 0.01), again=True) for i in range(5)]
    assert fill(budget, again) == 2


def test_what_runs_have_cost_counts_more_than_what_their_plan_says() -> None:
    budget = Budget(cores=2)
    for cost in (0.2, 0.4):
        budget.begin(job(1, 1.5, "kind"))
        budget.end(job(1, 1.5, "kind"), ended(cost=cost))
    # Each lasts 2 s, and takes more than its traffic.
    assert budget.cost(job(2, 1.5, "kind")) == pytest.approx(0.3 + beside(2))
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

    assert 0.05 < need("10 Mbit/s") - beside(10) < 0.15
    assert 0.3 < need("50 Mbit/s") - beside(10) < 0.4
    assert 0.5 < need("100 Mbit/s") - beside(10) < 0.7
    # A segment costs less in bursts.
    assert 1 < need("1 Gbit/s") < 2
    assert need("unlimited") - beside(10) == pytest.approx(UNLIMITED)


def test_a_short_run_needs_more_for_what_is_beside_its_traffic() -> None:
    assert beside(1) > 4 * beside(10) > 0


def test_udp_needs_what_it_sends() -> None:
    plan = planned({"rate": "300 Mbit/s"})
    datagrams = UdpWorkload(rate_bps=40_000_000, payload_bytes=1472, bytes=None)
    assert cores(replace(plan, flows=(replace(plan.flows[0], workload=datagrams),))) < 0.6


def test_only_emulated_runs_tell_what_they_have_cost() -> None:
    assert measured({"cost": {"cpu_s": 1.0}}) is None
    assert measured({}) is None
    assert measured(ended(cost=0.25).manifest) == 0.25
    # The time that the emulator gives up in company does not count.
    manifest = ended(cost=0.25).manifest
    manifest["cost"]["busy_wait"] = 0.05
    assert measured(manifest) == pytest.approx(0.2)


def test_runs_share_the_machine_as_the_budget_says(tmp_path: Path) -> None:
    """Jobs of 1.4 cores on four cores, of which three quarters are given away: two at a time."""
    engine = FakeEngine(change=lambda plan, files: time.sleep(0.1))
    jobs = [Job(i, load(scenario(seed=i)), engine, tmp_path, cores=1.4) for i in range(6)]
    told: list[Progress] = []
    carried = Local(Budget(cores=4)).run_jobs(jobs, lambda run: run.verdict, told.append)
    assert set(carried.results) == set(range(6))
    assert engine.most_at_once == 2
    assert told[-1].done == 6


def test_jobs_begin_in_their_order(tmp_path: Path) -> None:
    engine = FakeEngine()
    jobs = [Job(i, load(scenario(seed=i)), engine, tmp_path) for i in (4, 2, 3)]
    Local(Fixed(1)).run_jobs(jobs, lambda run: None)
    assert [seed for _, seed in engine.executed] == [4, 2, 3]
