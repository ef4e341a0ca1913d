"""Intervals of ratios and differences against answers that are known."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest

from dumbbell.agree.intervals import Interval, difference, ratio, repetitions_needed

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
    """With noise of each engine's own on top of noise that they share. 4,000 studies: one sigma is 0.5 %."""
    rng = np.random.default_rng(n)
    studies = 4000
    shared = rng.normal(3, 0.3, (studies, n))
    x = np.exp(shared + rng.normal(0, 0.02, (studies, n)))
    y = 1.01 * np.exp(shared + rng.normal(0, 0.01, (studies, n)))
    found = [ratio(a.tolist(), b.tolist()) for a, b in zip(x, y, strict=True)]
    held = [one for one in found if one is not None and one.low <= 1.01 <= one.high]  # type: ignore[operator]
    assert len(held) / studies == pytest.approx(0.90, abs=0.02)


def test_engines_that_are_apart_by_the_bound_seldom_pass() -> None:
    """At the bound itself 5 % of studies may; that is what the level of the test says."""
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
