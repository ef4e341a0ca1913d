"""Made-up comparisons, and the targets' answers to them."""

from __future__ import annotations

import pytest

from dumbbell.agree import targets
from dumbbell.agree.comparison import Comparison, compare
from dumbbell.agree.figures import JAIN, RTT_P50, TOTAL_GOODPUT, What
from dumbbell.agree.table import figures_table
from dumbbell.agree.targets import Status, judge, overall

ENGINES = ("virtual", "simulate")
GOODPUT = What("run", "", TOTAL_GOODPUT, "Mbit/s")
INDEX = What("run", "", JAIN, "")


def rtt(flow: str) -> What:
    return What("flow", flow, RTT_P50, "ms")


def made(**quantities: tuple[list[float], list[float]]) -> Comparison:
    """`goodput`, `jain`, and flows by their ids: values of each repetition, of either engine."""
    names = {"goodput": GOODPUT, "jain": INDEX}
    whats = {key: names.get(key, rtt(key)) for key in quantities}
    n = len(next(iter(quantities.values()))[0])
    return compare(
        ENGINES,
        [
            (
                {whats[key]: values[0][i] for key, values in quantities.items()},
                {whats[key]: values[1][i] for key, values in quantities.items()},
            )
            for i in range(n)
        ],
    )


@pytest.mark.parametrize(
    ("simulated", "status"),
    [
        ([9.5, 9.6, 9.4], Status.INSIDE),
        ([9.7, 9.8, 9.6], Status.INSIDE),
        ([9.5, 9.9, 9.1], Status.UNDECIDED),
        ([9.0, 9.1, 8.9], Status.OUTSIDE),
        ([10.5, 10.6, 10.5], Status.OUTSIDE),
    ],
)
def test_the_interval_of_the_goodput_decides(simulated: list[float], status: Status) -> None:
    (one,) = judge(made(goodput=([9.5, 9.6, 9.4], simulated)))
    assert one.status is status, one


def test_a_single_repetition_decides_nothing_on_goodput() -> None:
    assert overall(judge(made(goodput=([9.5], [9.5])))) is Status.UNDECIDED


@pytest.mark.parametrize(("simulated", "status"), [([0.0, 0.0], Status.INSIDE), ([0.0, 0.1], Status.OUTSIDE)])
def test_nothing_agrees_with_nothing_only(simulated: list[float], status: Status) -> None:
    assert overall(judge(made(goodput=([0.0, 0.0], simulated)))) is status


@pytest.mark.parametrize(
    ("emulated", "simulated", "status"),
    [
        (10.0, 10.9, Status.INSIDE),
        (10.0, 11.1, Status.OUTSIDE),
        (100.0, 104.9, Status.INSIDE),
        (100.0, 94.9, Status.OUTSIDE),
    ],
)
def test_an_rtt_may_be_off_by_5_percent_or_1_ms(emulated: float, simulated: float, status: Status) -> None:
    judged = judge(made(f1=([emulated] * 2, [simulated] * 2), f2=([10.0, 10.0], [10.0, 10.0])))
    assert [(one.target, one.status) for one in judged] == [("RTT p50 of f1", status), ("RTT p50 of f2", Status.INSIDE)]
    assert overall(judged) is status


@pytest.mark.parametrize(
    ("simulated", "status"),
    [
        ([20.3, 20.5, 20.7], Status.INSIDE),
        ([18.5, 20.5, 22.5], Status.UNDECIDED),
        ([20.5, 21.5, 22.5], Status.UNDECIDED),
        ([24.0, 24.5, 25.0], Status.OUTSIDE),
    ],
)
def test_the_interval_of_an_rtt_decides(simulated: list[float], status: Status) -> None:
    (one,) = judge(made(f1=([20.0] * 3, simulated)))
    assert one.status is status, one


def test_the_worst_of_many_flows_must_be_off_by_more_than_chance() -> None:
    """A difference of 3 ms has an interval of -+ 1.69 ms (t = 2.92, s = 1, n = 3): beyond 1 ms for one flow, and with
    six, whose interval has t = 7.65, no longer."""
    one: tuple[list[float], list[float]] = ([20.0] * 3, [22.0, 23.0, 24.0])
    same: tuple[list[float], list[float]] = ([20.0] * 3, [20.0] * 3)
    assert overall(judge(made(f1=one))) is Status.OUTSIDE
    assert overall(judge(made(f1=one, f2=same, f3=same, f4=same, f5=same, f6=same))) is Status.UNDECIDED


def test_a_single_repetition_decides_nothing() -> None:
    judged = judge(made(f1=([20.0], [20.0]), jain=([0.9], [0.9])))
    assert {one.status for one in judged} == {Status.UNDECIDED}


def test_repetitions_are_enough_for_every_target() -> None:
    """The goodput is the same, and needs two. The RTT's differences have s = 2 ms, so t * s / sqrt(n) is 1.04 ms with
    twelve and 0.99 ms with thirteen."""
    both = made(goodput=([9.0] * 3, [9.0] * 3), f1=([20.0] * 3, [18.0, 20.0, 22.0]))
    assert targets.needed(both) == 13
    assert targets.needed(made(goodput=([9.0] * 3, [9.0] * 3), f1=([20.0] * 3, [22.0, 22.0, 22.0]))) is None


@pytest.mark.parametrize(("simulated", "status"), [(0.86, Status.INSIDE), (0.84, Status.OUTSIDE)])
def test_jain_may_be_off_by_005(simulated: float, status: Status) -> None:
    assert overall(judge(made(jain=([0.9, 0.9], [simulated, simulated])))) is status


def test_one_target_missed_is_enough_and_nothing_measured_is_undecided() -> None:
    both = made(goodput=([9.5, 9.6], [9.5, 9.6]), jain=([0.9, 0.9], [0.5, 0.5]))
    assert [one.status for one in judge(both)] == [Status.INSIDE, Status.OUTSIDE]
    assert overall(judge(both)) is Status.OUTSIDE
    assert overall(judge(compare(ENGINES, []))) is Status.UNDECIDED


def test_what_only_one_engine_has_is_not_compared() -> None:
    found = compare(
        ENGINES, [({GOODPUT: 1.0, INDEX: 0.5}, {GOODPUT: 1.0}), ({GOODPUT: 2.0, INDEX: 0.5}, {GOODPUT: 2.0})]
    )
    assert [row.what for row in found.rows] == [GOODPUT]
    assert found.repetitions == 2


def test_all_quantities_with_their_intervals() -> None:
    found = figures_table(made(goodput=([10.0, 10.0], [10.0, 11.0]), jain=([1.0, 1.0], [0.0, 1.0])))
    rows = {row["measure"]: row for row in found.to_dicts()}
    assert rows[TOTAL_GOODPUT]["difference"] == 0.5
    assert rows[TOTAL_GOODPUT]["difference_low"] == pytest.approx(0.5 - 6.313752 * 0.5, abs=1e-5)
    assert rows[TOTAL_GOODPUT]["ratio"] == pytest.approx(1.1**0.5)
    assert (rows[JAIN]["ratio"], rows[JAIN]["simulate"]) == (None, 0.5)
