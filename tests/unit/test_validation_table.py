"""Made-up comparisons of cells, and the matrix's table and summary of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from test_agree_targets import ENGINES, made

from dumbbell.agree.comparison import Comparison
from dumbbell.agree.study import Outcome, Pair, Subject
from validation import summary
from validation.matrix import matrix
from validation.table import columns, table

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
    lines = summary.markdown(three(), ENGINES).splitlines()
    assert lines[0] == "1 of 3 cells are within all targets, 1 of 3 undecided, 1 of 3 outside."
    assert lines[1] == "Within each target: total goodput 2 of 3, RTT 1 of 2, Jain's index 1 of 1."
    assert lines[2] == "All cells are in `agreement.csv`."
    assert lines[3] == "Pairs of values are virtual / simulate."
    rows = [line.strip("| ").split(" | ") for line in lines[5:]]
    assert {len(row) for row in rows} == {len(summary.head(ENGINES))}
    assert "goodput, virtual, Mbit/s" in rows[0]
    assert [row[-1] for row in rows[2:]] == ["outside (rtt)", "undecided (goodput)"], "only cells that are not inside"
    assert rows[2][-3:-1] == ["30.0 / 35.0", "0.900 / 0.900"]


def test_cells_that_are_all_inside_need_no_table() -> None:
    lines = summary.markdown(three().head(1), ENGINES).splitlines()
    assert lines[0] == "1 of 1 cells are within all targets, 0 of 1 undecided, 0 of 1 outside."
    assert lines[2:] == ["All cells are in `agreement.csv`."]


@pytest.mark.parametrize(("inside", "enough"), [(20, True), (19, True), (18, False)])
def test_95_of_100_cells_are_enough(inside: int, enough: bool) -> None:
    statuses = ["inside"] * inside + ["outside"] * (20 - inside)
    assert summary.within_targets(pl.DataFrame({"agreement": statuses})) is enough
    assert summary.CELLS == 0.95


def test_no_cells_are_not_enough() -> None:
    assert not summary.within_targets(three().clear())
    assert summary.summary([]) == ["No cell was measured."]
