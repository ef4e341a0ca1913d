"""How long a study takes, as told before it starts: the engine's speed, and the runs at a time."""

from __future__ import annotations

import pytest
from planning import planned

from dumbbell.engines.registry import engine
from dumbbell.execute import Budget, Fixed
from dumbbell.plan.offered import packets_per_s
from dumbbell.plan.types import Plan
from dumbbell.studies.forecast import MOST, forecast, sample

LINK = {"rate": "20 Mbit/s", "buffer": "1 bdp"}


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Ten seconds of 20 Mbit/s."""
    return planned(LINK)


def test_packets_are_those_that_fill_the_path(plan: Plan) -> None:
    assert packets_per_s(plan) == pytest.approx(1.5 * 20e6 / 8 / 1514)
    assert packets_per_s(planned({"rate": "unlimited"})) is None


def test_an_emulated_run_takes_its_duration_and_a_second(plan: Plan) -> None:
    assert forecast(engine("emulate"), [plan], 6, Fixed(1)) == {"at_once": 1.0, "forecast_s": pytest.approx(66)}
    assert forecast(engine("emulate"), [plan], 6, Fixed(4)) == {"at_once": 4.0, "forecast_s": pytest.approx(16.5)}


def test_runs_at_a_time_become_more(plan: Plan) -> None:
    """One, two, three, and what two cores allow."""
    found = forecast(engine("emulate"), [plan], 6, Budget(cores=2))
    assert found == {"at_once": 2.0, "forecast_s": pytest.approx(33)}
    one = forecast(engine("emulate"), [plan], 1, Budget(cores=2))
    assert one == {"at_once": 1.0, "forecast_s": pytest.approx(11)}


@pytest.mark.parametrize("name", ["simulate", "virtual"])
def test_time_of_other_engines_grows_with_packets(name: str, plan: Plan) -> None:
    slow, fast = (engine(name).capabilities.alone_s(one) for one in (plan, planned({**LINK, "rate": "200 Mbit/s"})))
    beside = (10 * slow - fast) / 9
    assert 0 < beside < slow < fast
    assert fast - beside == pytest.approx(10 * (slow - beside))
    assert forecast(engine(name), [plan], 8, Fixed(2))["forecast_s"] == pytest.approx(4 * slow)


def test_of_many_cells_some_are_looked_at() -> None:
    assert sample([1, 2, 3]) == [1, 2, 3]
    some = sample(range(250_000))
    assert (len(some), some[0], some[50]) == (MOST, 0, 125_000)
    assert sample([]) == []


def test_nothing_takes_no_time() -> None:
    assert forecast(engine("emulate"), [], 0, Fixed(4))["forecast_s"] == 0.0
