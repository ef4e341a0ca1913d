"""Runs of a study whose flows depend on the seed."""

from __future__ import annotations

from fake_engine import FakeEngine
from test_simulated_groups import SCENARIO

from dumbbell.engines.names import EMULATE
from dumbbell.plan.expand import expand
from dumbbell.plan.identity import run_id
from dumbbell.scenario.file.loading import load, read
from dumbbell.studies.planning import RECORD, Planner


def test_an_emulated_repetition_is_the_run_of_its_seed() -> None:
    planned = Planner(read(SCENARIO), 3, FakeEngine(), "v1").plan({})
    plans = [expand(load(SCENARIO, {**RECORD, "seed": seed})) for seed in (1, 2, 3)]
    assert planned.run_ids == tuple(run_id(plan, EMULATE, "v1") for plan in plans)
    assert len({str(plan.flows) for plan in plans}) == 3
