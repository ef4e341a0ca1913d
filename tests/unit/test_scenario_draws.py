"""Shares of a number, and named random streams."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dumbbell.scenario.traffic.draws import Stream, counts

SHARES = st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(any)


@given(SHARES, st.integers(0, 5000))
def test_shares_of_a_number_are_whole_add_up_and_are_off_by_less_than_one(weights: list[int], total: int) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    found = counts(shares, total)
    assert sum(found) == total
    assert all(abs(number - share * total) < 1 for number, share in zip(found, shares, strict=True))
    assert all(number == 0 for number, share in zip(found, shares, strict=True) if not share)


@given(SHARES, st.integers(0, 500))
def test_a_larger_share_never_gets_less(weights: list[int], total: int) -> None:
    found = counts([Fraction(weight) for weight in weights], total)
    pairs = sorted(zip(weights, found, strict=True))
    for (less, few), (more, many) in pairwise(pairs):
        assert less == more or few <= many


def test_largest_remainders_by_hand() -> None:
    thirds = [Fraction(1, 3)] * 3
    assert counts(thirds, 10) == [4, 3, 3]
    assert counts([Fraction("0.75"), Fraction("0.25")], 2) == [2, 0]  # 1.5 and 0.5: of equal remainders the first
    assert counts([Fraction("0.75"), Fraction("0.25")], 3) == [2, 1]
    assert counts([Fraction("0.55"), Fraction("0.25"), Fraction("0.2")], 10) == [6, 2, 2]


def test_a_stream_is_the_same_for_ever() -> None:
    """These figures are in plans, and so in run ids: they never change."""
    stream = Stream(1, "flows/web/arrivals")
    assert [stream.below(1000) for _ in range(5)] == [212, 563, 25, 417, 376]
    assert [stream.exponential(10**9) for _ in range(3)] == [115199176, 243672226, 581415227]
    assert Stream(1, "flows/web/mix").shuffled(range(8)) == [7, 0, 4, 6, 3, 2, 5, 1]


def test_streams_are_told_apart_by_seed_and_name() -> None:
    def draws(seed: int, name: str) -> tuple[int, ...]:
        stream = Stream(seed, name)
        return tuple(stream.below(10**9) for _ in range(4))

    different = {draws(seed, name) for seed in (1, 2) for name in ("flows/a/mix", "flows/b/mix", "flows/a/sizes")}
    assert len(different) == 6
    assert draws(1, "flows/a/mix") in different


def test_gaps_have_their_mean_and_an_exponential_distribution() -> None:
    stream = Stream(7, "x")
    gaps = [stream.exponential(1_000_000) for _ in range(4000)]
    # The mean of 4000 has a standard deviation of 1.6 %; a share of exp(-1) = 36.8 % is longer than the mean.
    assert 950_000 < sum(gaps) / 4000 < 1_050_000
    assert 0.34 < sum(gap > 1_000_000 for gap in gaps) / 4000 < 0.40


def test_every_order_is_equally_likely() -> None:
    stream = Stream(3, "x")
    orders = Counter(tuple(stream.shuffled([0, 1, 2])) for _ in range(1200))
    assert len(orders) == 6
    assert all(140 < number < 260 for number in orders.values()), orders
