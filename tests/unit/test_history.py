"""What is known of a link over time, from its plan."""

from __future__ import annotations

from typing import Any

import known_run
import pytest

from dumbbell.analysis import history
from dumbbell.plan.routes import least_delay_ns

STEPS = {"kind": "steps", "steps": [[0, 1000], [5, 2000]], "period_ns": None}
SLOTS = {"min_interval_ns": 1, "max_interval_ns": 1, "packets": None, "bytes": None}


def over_time(*changes: dict[str, Any]) -> history.History:
    """A link of 10 Mbit/s and 10 ms that changes each second."""
    link = known_run.link("bottleneck", "h1", "h2")
    return tuple((n * 10**9, {**link, **change}) for n, change in enumerate(changes))


def test_histories_follow_the_events_of_each_link() -> None:
    first, second = known_run.PLAN["links"]
    events = [{"at_ns": at, "link": {**link, "delay_ns": at}} for at, link in ((5, second), (7, first), (9, second))]
    found = history.histories({**known_run.PLAN, "events": events})
    assert [at for at, _ in found["bottleneck"]] == [0, 7]
    assert [(at, link["delay_ns"]) for at, link in found["bottleneck-reverse"]] == [(0, 10_000_000), (5, 5), (9, 9)]


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
    found = over_time(*changes)
    assert (history.is_steady(found), history.is_limited(found)) == (steady, limited)


def test_the_least_delay_is_that_of_any_time_and_any_packet() -> None:
    assert least_delay_ns(link for _, link in over_time({}, {"delay_ns": 7})) == 7
    assert least_delay_ns(link for _, link in over_time({"reorder": {"delay_ns": 3}}, {"delay_ns": 7})) == 3
    assert least_delay_ns(link for _, link in over_time({"reorder": {"delay_ns": 10**9}})) == 10_000_000
