"""The yardstick's metrics of made-up runs."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell.yardstick.metrics import METRICS, Outcome, measure, overall

LINK = {
    "utilisation": 0.5,
    "delivered_bytes": 1_514_000,
    "drops": 3,
    "dropped_down": 1,
    "arrived_packets": 100,
}
"""A link that could have carried 3,028,000 bytes: 2,896,000 of payload."""


def flow(received: int = 0, cc: str | None = "mine", start_s: float = 0, **other: Any) -> dict[str, Any]:
    own = {"received_bytes": received, "cc": cc, "start_s": start_s, "stop_s": 10.0, "protocol": "tcp"}
    planned = {
        "base_rtt_ms": 20.0,
        "rtt_p50_ms": 40.0,
        "frame_bytes": 1514,
        "ip_header_bytes": 20,
        "rpc_slowdown_p50": None,
    }
    return {**own, **planned, **other}


def outcome(mine: list[Any], incumbents: Any = (), rest: Any = (), jain: float | None = None, **other: Any) -> Outcome:
    return Outcome(mine, incumbents, rest, LINK, 10.0, jain, **other)


def test_a_flow_alone_may_have_the_whole_link_and_answers_for_its_queue() -> None:
    found = measure(outcome([flow(1_448_000)]))
    assert {name: (one.value, one.score) for name, one in found.items()} == {
        "goodput": (pytest.approx(0.5), pytest.approx(0.5)),
        "delay": (1.0, 0.5),
        "loss": (0.02, 0.5),
    }


def test_a_fair_share_counts_the_flows_of_each_moment_and_not_what_cannot_yield() -> None:
    # Alone for 5 s, one of two for 5 s; a stream has taken 96,000 bytes before they share.
    late = flow(0, "cubic", start_s=5)
    stream = flow(96_000, None, protocol="udp")
    fair = (2_896_000 - 96_000) * 0.75
    found = measure(outcome([flow(round(fair / 2))], [late], [stream]))
    assert found["goodput"].value == pytest.approx(0.5)
    # The incumbent fills the queue, too.
    assert found.keys() == {"goodput"}


def test_what_a_policer_passes_is_all_that_a_flow_may_have() -> None:
    found = measure(outcome([flow(1_000_000)], limit_bps=800_000))
    assert found["goodput"].value == pytest.approx(1_514 / 1_448)
    assert found["goodput"].score == 1


def test_harm_is_beyond_what_incumbents_do_to_each_other() -> None:
    usual = outcome([flow(500, "cubic")], [flow(500, "cubic")])
    harmed, spared = (measure(outcome([flow()], [flow(got, "cubic")]), usual)["harm"] for got in (100, 900))
    assert (harmed.value, harmed.score) == (pytest.approx(0.8), pytest.approx(0.2))
    assert spared.score == 1
    answers = [outcome([flow()], [flow(cc="cubic", protocol="rpc", rpc_slowdown_p50=x)]) for x in (4.0, 2.0)]
    assert measure(answers[0], answers[1])["harm"].value == 0.5


def test_fairness_and_completion_are_of_the_algorithm_s_own_flows() -> None:
    assert measure(outcome([flow(1), flow(1)], jain=0.9))["fairness"].score == 0.9
    requests = [flow(protocol="rpc", rpc_slowdown_p50=x) for x in (1.0, 3.0)]
    assert measure(outcome(requests))["completion"].score == 0.5
    # No request was ever complete.
    assert measure(outcome([flow(protocol="rpc")]))["completion"].score == 0


def test_a_flow_that_never_sends_has_no_score() -> None:
    idle = LINK | {"utilisation": 0.0, "delivered_bytes": 0, "arrived_packets": 0, "drops": 0}
    found = measure(Outcome([flow()], (), (), idle, 10.0, None))
    assert overall(one.score for one in found.values()) == 0


def test_a_bad_metric_is_not_made_up_for() -> None:
    assert overall([1, 1, 0]) == 0
    assert overall([0.25, 1]) == 0.5
    assert overall([]) == 0


def test_each_metric_says_what_it_is_and_why() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert all(metric.what and metric.why for metric in METRICS)
