"""Made-up comparisons, and the targets' answers to them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dumbbell.agree import markdown, targets
from dumbbell.agree.comparison import Comparison, compare
from dumbbell.agree.figures import JAIN, RTT_P50, TOTAL_GOODPUT, What
from dumbbell.agree.matrix import matrix
from dumbbell.agree.study import Outcome, Pair, Subject
from dumbbell.agree.table import columns, figures_table, table
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


CELLS = matrix()[:3]


def outcome(index: int, comparison: Comparison) -> Outcome:
    nowhere = Path("nowhere")
    subject = Subject(CELLS[index].name, {}, nowhere, lambda seed: CELLS[index].scenario())
    pairs = tuple(Pair(seed, nowhere, nowhere) for seed in range(comparison.repetitions))
    return Outcome(subject, comparison, pairs, ())


def three() -> pl.DataFrame:
    """A cell inside, one outside by its RTT, one undecided."""
    good: tuple[list[float], list[float]] = ([9.5, 9.6, 9.4], [9.5, 9.6, 9.4])
    found = [
        made(goodput=good, f1=([20.0] * 3, [20.5] * 3)),
        made(goodput=good, f1=([20.0] * 3, [20.0] * 3), f2=([30.0] * 3, [35.0] * 3), jain=([0.9] * 3, [0.9] * 3)),
        made(goodput=([9.5, 9.6, 9.4], [9.5, 9.9, 9.1])),
    ]
    return table({cell.name: cell for cell in CELLS}, [outcome(i, one) for i, one in enumerate(found)], ENGINES)


def test_the_table_has_a_row_per_cell() -> None:
    found = three()
    assert dict(found.schema) == columns(ENGINES)
    assert {"goodput_virtual_mbit", "jain_simulate"} <= set(found.columns)
    assert found["agreement"].to_list() == ["inside", "outside", "undecided"]
    assert found["rtt"].to_list() == ["inside", "outside", None]
    assert found["rtt_flow"].to_list() == ["f1", "f2", None], "the flow that is off most"
    assert found["rtt_p50_simulate_ms"].to_list() == [20.5, 35.0, None]
    assert found["jain"].to_list() == [None, "inside", None]
    assert found["goodput_ratio"].to_list() == pytest.approx([1, 1, 0.9996], abs=1e-3)
    assert found["repetitions_needed"].to_list()[:2] == [2, None], "no number brings f2's RTT inside"
    assert found["repetitions_needed"][2] > 3


def test_the_table_in_markdown() -> None:
    lines = markdown.markdown(three(), ENGINES).splitlines()
    assert lines[0] == "1 of 3 cells are within all targets, 1 of 3 undecided, 1 of 3 outside."
    assert lines[1] == "Within each target: total goodput 2 of 3, RTT 1 of 2, Jain's index 1 of 1."
    assert lines[2] == "All cells are in `agreement.csv`."
    assert lines[3] == "Pairs of values are virtual / simulate."
    rows = [line.strip("| ").split(" | ") for line in lines[5:]]
    assert {len(row) for row in rows} == {len(markdown.head(ENGINES))}
    assert "goodput, virtual, Mbit/s" in rows[0]
    assert [row[-1] for row in rows[2:]] == ["outside (rtt)", "undecided (goodput)"], "only cells that are not inside"
    assert rows[2][-3:-1] == ["30.0 / 35.0", "0.900 / 0.900"]


def test_cells_that_are_all_inside_need_no_table() -> None:
    lines = markdown.markdown(three().head(1), ENGINES).splitlines()
    assert lines[0] == "1 of 1 cells are within all targets, 0 of 1 undecided, 0 of 1 outside."
    assert lines[2:] == ["All cells are in `agreement.csv`."]


@pytest.mark.parametrize(("inside", "enough"), [(20, True), (19, True), (18, False)])
def test_95_of_100_cells_are_enough(inside: int, enough: bool) -> None:
    statuses = ["inside"] * inside + ["outside"] * (20 - inside)
    assert markdown.within_targets(pl.DataFrame({"agreement": statuses})) is enough
    assert targets.CELLS == 0.95


def test_no_cells_are_not_enough() -> None:
    assert not markdown.within_targets(three().clear())
    assert markdown.summary([]) == ["No cell was measured."]


def test_all_quantities_with_their_intervals() -> None:
    found = figures_table(made(goodput=([10.0, 10.0], [10.0, 11.0]), jain=([1.0, 1.0], [0.0, 1.0])))
    rows = {row["measure"]: row for row in found.to_dicts()}
    assert rows[TOTAL_GOODPUT]["difference"] == 0.5
    assert rows[TOTAL_GOODPUT]["difference_low"] == pytest.approx(0.5 - 6.313752 * 0.5, abs=1e-5)
    assert rows[TOTAL_GOODPUT]["ratio"] == pytest.approx(1.1**0.5)
    assert (rows[JAIN]["ratio"], rows[JAIN]["simulate"]) == (None, 0.5)
