"""Intervals of ratios and differences against answers that are known."""

from __future__ import annotations

from functools import partial
from math import exp, sqrt

import numpy as np
import pytest

from dumbbell.statistics import intervals
from dumbbell.statistics.intervals import Interval, of_mean, welch_difference

difference = partial(intervals.paired_difference, confidence=0.9)
ratio = partial(intervals.paired_ratio, confidence=0.9)
repetitions_needed = partial(intervals.repetitions_needed, confidence=0.9)

T_2 = 2.919986
"""Student's t, 95 %, 2 degrees of freedom: from printed tables."""


def test_a_difference_by_hand() -> None:
    found = difference([1, 2, 3], [2, 4, 6])
    assert (found.value, found.n) == (2, 3)
    assert found.low == pytest.approx(2 - T_2 / sqrt(3), abs=1e-5)
    assert found.high == pytest.approx(2 + T_2 / sqrt(3), abs=1e-5)


def test_a_ratio_by_hand() -> None:
    x = [10.0, 20.0, 40.0]
    found = ratio(x, [value * exp(step) for value, step in zip(x, (0.0, 0.01, 0.02), strict=True)])
    assert found is not None
    assert found.value == pytest.approx(exp(0.01))
    assert found.low == pytest.approx(exp(0.01 - 0.01 * T_2 / sqrt(3)), abs=1e-6)
    assert found.high == pytest.approx(exp(0.01 + 0.01 * T_2 / sqrt(3)), abs=1e-6)


def test_what_pairs_have_in_common_cancels() -> None:
    """Seeds that make a run ten times as fast say nothing about the engines."""
    x = [1.0, 10.0, 3.0, 0.5]
    found = ratio(x, [1.02 * value for value in x])
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(1.02), pytest.approx(1.02))


def test_one_pair_has_no_interval() -> None:
    found = difference([1.0], [1.5])
    assert found == Interval(0.5, None, None, 1)
    assert not found.within(-9, 9)
    assert not found.beyond(2, 3)
    assert found.half_width is None


@pytest.mark.parametrize(("x", "y"), [([0.0, 1.0], [1.0, 1.0]), ([1.0, 1.0], [1.0, 0.0])])
def test_nothing_has_no_ratio(x: list[float], y: list[float]) -> None:
    assert ratio(x, y) is None
    assert repetitions_needed(x, y, 0.97, 1.03) is None


def test_within_and_beyond() -> None:
    straddles = Interval(1.02, 1.0, 1.04, 3)
    assert not straddles.within(0.97, 1.03)
    assert not straddles.beyond(0.97, 1.03)
    assert Interval(1.0, 0.98, 1.02, 3).within(0.97, 1.03)
    assert Interval(0.9, 0.88, 0.92, 3).beyond(0.97, 1.03)
    assert Interval(1.1, 1.05, 1.2, 3).beyond(0.97, 1.03)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_nine_intervals_of_ten_hold_the_truth(n: int) -> None:
    """Each engine has separate noise on top of shared noise. 4,000 studies: one sigma is 0.5 %."""
    rng = np.random.default_rng(n)
    studies = 4000
    shared = rng.normal(3, 0.3, (studies, n))
    x = np.exp(shared + rng.normal(0, 0.02, (studies, n)))
    y = 1.01 * np.exp(shared + rng.normal(0, 0.01, (studies, n)))
    found = [ratio(a.tolist(), b.tolist()) for a, b in zip(x, y, strict=True)]
    held = [one for one in found if one is not None and one.low <= 1.01 <= one.high]  # type: ignore[operator]
    assert len(held) / studies == pytest.approx(0.90, abs=0.02)


def test_engines_that_are_apart_by_the_bound_seldom_pass() -> None:
    """At the bound itself 5 % of studies may pass; that is the meaning of the test's level."""
    rng = np.random.default_rng(1)
    x = np.exp(rng.normal(0, 0.01, (4000, 5)))
    y = 1.03 * np.exp(rng.normal(0, 0.01, (4000, 5)))
    passed = [
        one for a, b in zip(x, y, strict=True) if (one := ratio(a.tolist(), b.tolist())) and one.within(0.97, 1.03)
    ]
    assert 0.03 < len(passed) / 4000 < 0.07


def test_as_many_repetitions_as_make_it_fit() -> None:
    """Logs apart by 0.01 -+ 0.02: of the 0.0196 that remain to the bound."""
    x, y = [1.0, 1.0], [exp(0.01 - 0.02 / sqrt(2)), exp(0.01 + 0.02 / sqrt(2))]
    found = repetitions_needed(x, y, 0.97, 1.03)
    assert found is not None

    def half(n: int) -> float:
        """Half of the interval of n pairs with the same mean and spread, by a table of t at n - 1."""
        return {4: 2.353363, 5: 2.131847, 6: 2.015048}[n] * 0.02 / sqrt(n)

    assert half(found) <= 0.02955880 - 0.01 < half(found - 1)


def test_no_repetitions_bring_a_ratio_back() -> None:
    assert repetitions_needed([1, 1, 1], [1.05, 1.06, 1.05], 0.97, 1.03) is None
    assert repetitions_needed([1.0], [1.0], 0.97, 1.03) is None
    assert repetitions_needed([1, 2, 3], [1, 2, 3], 0.97, 1.03) == 2


SLEEP = ([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
"""Hours of sleep won by two drugs, ten patients: Student's own example (Biometrika 6:1, 1908), and R's `sleep`."""


def test_students_own_example() -> None:
    """`t.test(extra ~ group, data = sleep, paired = TRUE)` and without `paired`, as R's manual prints them."""
    paired = intervals.paired_difference(*SLEEP)
    assert paired.value == pytest.approx(1.58)
    assert (paired.low, paired.high) == (pytest.approx(0.7001142, abs=1e-6), pytest.approx(2.4598858, abs=1e-6))
    apart = welch_difference(*SLEEP)
    assert (apart.low, apart.high) == (pytest.approx(-0.2054832, abs=1e-6), pytest.approx(3.3654832, abs=1e-6))


@pytest.mark.parametrize(("confidence", "t"), [(0.90, 1.833113), (0.95, 2.262157), (0.99, 3.249836)])
def test_the_mean_at_each_confidence(confidence: float, t: float) -> None:
    """Student's t with 9 degrees of freedom, from printed tables."""
    found = of_mean(SLEEP[1], confidence)
    assert found.value == pytest.approx(2.33)
    assert found.half_width == pytest.approx(t * 2.002249 / sqrt(10), abs=1e-5)


def test_samples_that_do_not_spread() -> None:
    assert welch_difference([1.0, 1.0], [3.0, 3.0, 3.0]) == Interval(2.0, 2.0, 2.0, 2)
    assert welch_difference([1.0], [3.0, 4.0]) == Interval(2.5, None, None, 1)
    assert of_mean([5.0]) == Interval(5.0, None, None, 1)


@pytest.mark.parametrize("confidence", intervals.CONFIDENCES)
def test_intervals_hold_the_mean_as_often_as_they_say(confidence: float) -> None:
    """5,000 studies of 8 normal values: one sigma is 0.4 % at the most; three and a half are allowed."""
    draws = np.random.default_rng(8).normal(10, 3, (5000, 8))
    found = [of_mean(row.tolist(), confidence) for row in draws]
    held = sum(one.low <= 10 <= one.high for one in found)  # type: ignore[operator]
    assert held / 5000 == pytest.approx(confidence, abs=0.015)


def test_welch_holds_where_spreads_and_sizes_differ() -> None:
    """4,000 studies, 5 values with spread 1 against 12 with spread 4: one sigma is 0.34 %."""
    rng = np.random.default_rng(9)
    x, y = rng.normal(0, 1, (4000, 5)), rng.normal(2, 4, (4000, 12))
    found = [welch_difference(a.tolist(), b.tolist()) for a, b in zip(x, y, strict=True)]
    assert sum(one.low <= 2 <= one.high for one in found) / 4000 == pytest.approx(0.95, abs=0.012)  # type: ignore[operator]


def test_a_thousand_values_are_the_most_that_are_looked_for() -> None:
    def half(n: int) -> float:
        return intervals.student_t(n - 1, 0.95) / sqrt(n)

    assert [intervals.fitting(1, half(n), 0.95) for n in (2, 3, 999, 1000, 1001)] == [2, 3, 999, 1000, None]


def test_two_pairs_tell_how_many_differences_are_needed() -> None:
    """Differences 1 and 3 leave 0.54 to the bound: t(28) * sqrt(2 / 29) is 0.538, and t(27) * sqrt(2 / 28) 0.548."""
    assert intervals.differences_needed([0, 0], [1, 3], 2.54) == 29
    assert intervals.differences_needed([0, 0], [-1, -3], 2.54) == 29
    assert intervals.differences_needed([0, 0], [1, 3], 1.9) is None
    assert intervals.differences_needed([0], [1], 9) is None
