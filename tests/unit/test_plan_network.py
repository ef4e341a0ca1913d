"""The facts about a plan's links over time."""

from __future__ import annotations

from typing import Any

import known_run
import pytest

from dumbbell.plan.network import Network, network

STEPS = {"kind": "steps", "steps": [[0, 1000], [5, 2000]], "period_ns": None}
SLOTS = {"min_interval_ns": 1, "max_interval_ns": 1, "packets": None, "bytes": None}
REORDER = {"probability": 0.1, "correlation": 0.0, "gap": 1}


def over_time(*changes: dict[str, Any]) -> Network:
    """The bottleneck of 10 Mbit/s and 10 ms changes each second."""
    first, *later = ({**known_run.link("bottleneck", "h1", "h2"), **change} for change in changes)
    events = [{"at_ns": n * 10**9, "link": link} for n, link in enumerate(later, 1)]
    return Network(known_run.plan(links=[first, known_run.PLAN["links"][1]], events=events))


def test_histories_follow_the_events_of_each_link() -> None:
    first, second = known_run.PLAN["links"]
    events = [{"at_ns": at, "link": {**link, "delay_ns": at}} for at, link in ((5, second), (7, first), (9, second))]
    found = network(known_run.plan(events=events)).histories
    assert [at for at, _ in found["bottleneck"]] == [0, 7]
    assert [(at, link.delay_ns) for at, link in found["bottleneck-reverse"]] == [(0, 10_000_000), (5, 5), (9, 9)]


@pytest.mark.parametrize(
    ("changes", "steady", "limited"),
    [
        (({},), True, True),
        (({}, {"delay_ns": 5, "up": False}), True, True),
        (({}, {"rate_bps": 1}), False, True),
        (({"variation": STEPS},), False, True),
        (({}, {"variation": STEPS}), False, True),
        (({"rate_bps": None},), False, False),
        (({"rate_bps": None}, {}), False, False),
        (({}, {"rate_bps": None}), False, False),
        (({"rate_bps": None, "slots": SLOTS},), False, False),
    ],
)
def test_rates(changes: tuple[dict[str, Any], ...], steady: bool, limited: bool) -> None:
    found = over_time(*changes).facts["bottleneck"]
    assert (found.is_steady, found.is_limited) == (steady, limited)


def test_the_least_delay_is_that_of_any_time_and_any_packet() -> None:
    """Beside the 10 ms of the way back."""

    def least_delay_ns(*changes: dict[str, Any]) -> int:
        (path,) = over_time(*changes).paths
        return path.least_rtt_ns - 10_000_000

    assert least_delay_ns({}, {"delay_ns": 7}) == 7
    assert least_delay_ns({"reorder": {**REORDER, "delay_ns": 3}}, {"delay_ns": 7}) == 3
    assert least_delay_ns({"reorder": {**REORDER, "delay_ns": 10**9}}) == 10_000_000


def test_the_base_rtt_changes_with_the_delays() -> None:
    (path,) = over_time({}, {"delay_ns": 7}, {"rate_bps": 1}, {"delay_ns": 8}).paths
    assert path.base_rtts_ns == [(0, 20_000_000), (10**9, 10_000_007), (2 * 10**9, 20_000_000), (3 * 10**9, 10_000_008)]


def test_a_plan_s_network_is_reckoned_once() -> None:
    plan = known_run.plan()
    assert network(plan) is network(plan)
    assert network(plan) is not network(known_run.plan())
