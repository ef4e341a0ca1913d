"""Bootstrap, effect sizes, and how many runs are enough."""

from __future__ import annotations

from math import gamma, sqrt

import numpy as np
import pytest
from test_statistics_intervals import SLEEP

from dumbbell.statistics.bootstrap import bootstrap
from dumbbell.statistics.contrasts import cliffs_delta, hedges_g
from dumbbell.statistics.enough import is_enough, relative_half_width, still_needed
from dumbbell.statistics.intervals import Interval, of_mean


def test_the_same_values_give_the_same_interval() -> None:
    values = np.random.default_rng(3).exponential(2, 30).tolist()
    first = bootstrap(values)
    assert first == bootstrap(values) == bootstrap(values[::-1])
    assert first != bootstrap(values, seed=2)
    assert first.n == 30
    assert first.value == pytest.approx(np.mean(values))


def test_a_bootstrap_of_normal_values_is_near_students() -> None:
    """The intervals of 200 values, where t is normal, differ by the chance of the draws, 1 % of the width, and by the
    sample's skew."""
    values = np.random.default_rng(4).normal(100, 10, 200).tolist()
    by_t, drawn = of_mean(values), bootstrap(values)
    assert drawn.low == pytest.approx(by_t.low, abs=0.15)
    assert drawn.high == pytest.approx(by_t.high, abs=0.15)


def test_a_bootstrap_holds_a_skew_mean() -> None:
    """400 studies of 60 exponential values. One sigma is 1.1 %; BCa of so skew a law falls 1 to 2 % short."""
    rng = np.random.default_rng(5)
    found = [bootstrap(rng.exponential(1, 60).tolist(), draws=499) for _ in range(400)]
    held = sum(one.low <= 1 <= one.high for one in found)  # type: ignore[operator]
    assert 0.90 <= held / 400 <= 0.98


def test_the_median_of_a_bootstrap() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 100.0]
    found = bootstrap(values, of="median")
    assert found.value == 3
    assert found.low is not None
    assert found.high is not None
    assert 1 <= found.low <= 3 <= found.high <= 100


@pytest.mark.parametrize("of", ["mean", "median"])
def test_nothing_to_draw_from(of: str) -> None:
    assert bootstrap([2.0], of=of) == Interval(2.0, None, None, 1)  # type: ignore[arg-type]
    assert bootstrap([2.0] * 4, of=of) == Interval(2.0, 2.0, 2.0, 4)  # type: ignore[arg-type]
    # Nearly all draws have the same median: BCa has no answer, percentiles do.
    few = bootstrap([1.0] * 9 + [5.0], of=of)  # type: ignore[arg-type]
    assert few.low is not None
    assert few.high is not None
    assert few.low <= few.value <= few.high


def test_hedges_g_by_hand() -> None:
    """Student's sleep: Cohen's d is 0.8321811, and J(18) by its formula."""
    unbiased = gamma(9) / (sqrt(9) * gamma(8.5))
    assert hedges_g(*SLEEP) == pytest.approx(0.8321811 * unbiased, abs=1e-6)
    assert hedges_g(SLEEP[1], SLEEP[0]) == pytest.approx(-0.8321811 * unbiased, abs=1e-6)
    assert unbiased == pytest.approx(1 - 3 / (4 * 18 - 1), abs=1e-3)


def test_no_spread_no_g() -> None:
    assert hedges_g([1, 1], [2, 2]) is None
    assert hedges_g([1], [1, 2]) is None


def test_cliffs_delta_by_counting() -> None:
    assert cliffs_delta([1, 2, 3], [4, 5]) == 1
    assert cliffs_delta([4, 5], [1, 2, 3]) == -1
    assert cliffs_delta([1, 2, 3], [1, 2, 3]) == 0
    # Four of six pairs are larger and one is equal.
    assert cliffs_delta([1, 2, 2], [2, 3]) == pytest.approx(4 / 6)
    counted = sum((b > a) - (b < a) for a in SLEEP[0] for b in SLEEP[1]) / 100
    assert cliffs_delta(*SLEEP) == pytest.approx(counted)


def test_relative_half_width() -> None:
    assert relative_half_width(Interval(50, 45, 55, 4)) == pytest.approx(0.1)
    assert relative_half_width(Interval(-50, -55, -45, 4)) == pytest.approx(0.1)
    assert relative_half_width(Interval(0, 0, 0, 4)) == 0
    assert relative_half_width(Interval(0, -1, 1, 4)) is None
    assert relative_half_width(Interval(5, None, None, 1)) is None


def test_runs_still_needed() -> None:
    """Mean 10, standard deviation 1, n = 5: t(4) = 2.776445 gives 12.4 %; 5 % takes 18: t(17) / sqrt(18) = 0.497."""
    values = [10 + step * sqrt(0.4) for step in (-2, -1, 0, 1, 2)]
    assert is_enough(values, 0.125)
    assert not is_enough(values, 0.124)
    assert still_needed(values, 0.125) == 0
    assert still_needed(values, 0.05) == 18 - 5
    assert still_needed(values, 0.0001) is None


def test_too_few_to_tell() -> None:
    assert still_needed([1.0], 0.1) is None
    assert still_needed([-1.0, 1.0], 0.1) is None
    assert not is_enough([1.0, 1.0], 0.1)
    assert still_needed([1.0, 1.0], 0.1) == 3
