"""Scenarios that `python -m validation --random` draws: the same ones each time, all valid, none too expensive."""

from __future__ import annotations

from collections import Counter

import pytest

from dumbbell.engines.registry import engine
from dumbbell.pipeline.planned import planned
from dumbbell.scenario import load
from validation.__main__ import main
from validation.drawn import (
    FLOWS,
    FULL_FRAME_BITS,
    LEAST_ROUNDS,
    MOST_PACKETS,
    RATES_MBIT,
    RTTS_MS,
    draw,
)


def test_a_seed_always_draws_the_same_and_more_of_them_begin_alike() -> None:
    first = draw(7, 40)
    assert first == draw(7, 40)
    assert draw(7, 15) == first[:15]
    assert [one.table for one in draw(8, 40)] != [one.table for one in first]
    # As they were drawn at first: tables of before can be compared.
    assert [(one.mix, one.rate_mbit, one.rtt_ms, one.duration_s) for one in draw(1, 2)] == [
        ("2 bbr2-1 dctcp", 30.0, 54.0, 8.0),
        ("15 bbr-13 bbr2", 1.8, 190.0, 19.0),
    ]


def test_each_is_valid_under_both_engines() -> None:
    simulate = engine("simulate")
    for one in draw(3, 60):
        scenario = load(one.scenario())
        assert simulate.check(scenario, planned(simulate, scenario)) == [], one.name


def test_their_cost_is_bounded_and_they_last_some_rounds() -> None:
    for one in draw(5, 300):
        assert one.duration_s * one.rate_mbit * 1e6 / FULL_FRAME_BITS <= 1.01 * MOST_PACKETS
        assert one.duration_s * 1e3 >= 0.99 * LEAST_ROUNDS * one.rtt_ms
        assert FLOWS[0] <= len(one.flows) <= FLOWS[1]


def test_they_cover_the_space() -> None:
    drawn = draw(1, 400)
    assert {name for one in drawn for name in one.flows} == {"reno", "cubic", "bbr", "bbr2", "bbr3", "dctcp"}
    kinds = Counter(word.split()[0] for one in drawn for word in one.also)
    expected = "red codel fq-codel pie fq cake marks policer steps jitter reordering unequal mice on/off starts UDP"
    assert {word: kinds[word] for word in expected.split() if kinds[word] < 5} == {}
    assert any("ECN" in word for one in drawn for word in one.also)
    for values, (least, most) in (
        ([one.rate_mbit for one in drawn], RATES_MBIT),
        ([one.rtt_ms for one in drawn], RTTS_MS),
    ):
        assert min(values) < 2 * least
        assert max(values) > most / 2
    assert max(one.loss_percent for one in drawn) > 10
    assert max(len(one.flows) for one in drawn) == FLOWS[1]


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--random", "3", "--seed", "9", "--list"]) == 0
    assert capsys.readouterr().out.split() == ["random-9-001", "random-9-002", "random-9-003"]
