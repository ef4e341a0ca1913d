"""Findings under several readings of a text, and how near changes are: on a page of a study whose figures are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published import report
from dumbbell.published.changes import changes
from dumbbell.published.document import Paragraph, Rows
from dumbbell.published.figures import Figures
from dumbbell.published.found import answer, elsewhere, judged, matrix, shown
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.model import Finding, Judged, Part, Published, Reproduction, Status, Studies, Table
from dumbbell.published.sides import sides

N, UDP = "flows.0.connections", "flows.1.rate"
CELLS: tuple[dict[str, Any], ...] = tuple({N: n, UDP: udp} for n in (5, 10) for udp in ("10 %", "20 %", "30 %"))
TABLE = Table("Goodput (Mbit/s)", "table 1", N, UDP, "goodput", "cubic", "10 %", 1e6)


def printed(mbit: tuple[float, float, float]) -> tuple[Published, ...]:
    values = dict(zip(("10 %", "20 %", "30 %"), mbit, strict=True))
    return tuple(Published(cell, "goodput", "cubic", 1e6 * values[cell[UDP]], "table 1") for cell in CELLS)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """CUBIC has 40, 30 and 20 Mbit/s with 10, 20 and 30 % UDP."""
    mbit = {"10 %": 40.0, "20 %": 30.0, "30 %": 20.0}
    written = Synthetic(cells=CELLS, ccs=("cubic",), spread=0, goodput_mbit=lambda cell, _: mbit[cell[UDP]])
    return Study(written.write(tmp_path / "study"))


def test_changes_can_be_far_though_levels_are_near_and_near_though_levels_are_far(study: Study) -> None:
    figures = Figures(study)
    near = changes([TABLE], sides(printed((4, 3, 2)), figures, 0.95))
    far = changes([TABLE], sides(printed((40, 30, 40)), figures, 0.95))
    assert near is not None
    assert far is not None
    assert (near.factor, near.printed, near.counted) == (pytest.approx(1), pytest.approx(2), 2)
    assert (far.factor, far.printed) == (pytest.approx(2), pytest.approx(1))


class Equal(Synthetic):
    """All repetitions are the same run."""

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        return super()._flows(cell, index, 0)

    def _link(self, name: str, index: int, repetition: int) -> dict[str, Any]:
        return super()._link(name, index, 0)


def test_equal_repetitions_have_an_interval_without_a_width_and_a_single_run_has_none(tmp_path: Path) -> None:
    equal = Study(Equal(spread=0).write(tmp_path / "equal"))
    assert equal.copies == {0: [1, 2, 3, 4]}
    found = Figures(equal).interval("goodput", "cubic")
    assert (found and (found.low, found.high, found.n)) == (30e6, 30e6, 5)
    assert list(Figures(equal).samples("goodput", "cubic")) == [(0, seed) for seed in range(1, 6)]
    once = Figures(Study(Equal(spread=0, repeat=1).write(tmp_path / "once"))).interval("goodput", "cubic")
    assert (once and (once.low, once.n)) == (None, 1)


def test_changes_without_a_reference_or_without_its_runs_are_none(study: Study) -> None:
    figures = Figures(study)
    without = Table("", "table 1", N, UDP, "goodput", "cubic")
    assert changes([without], sides(printed((4, 3, 2)), figures, 0.95)) is None
    assert changes([TABLE], sides(printed((4, 3, 2)), None, 0.95)) is None


def _finding(text: str, reading: str, part: str, status: Status, about: str = "") -> Finding:
    def judge(studies: Studies) -> Judged:
        return Judged(status, f"{studies[part].runs.height} runs") if part in studies else NOT_RUN

    return Finding(text, judge, "a tenth", reading=reading, source="table 1", about=about)


def test_a_page_shows_under_which_reading_a_finding_holds(study: Study, tmp_path: Path) -> None:
    findings = (
        _finding("CUBIC loses", "plain", "a", Status.FAILS),
        _finding("CUBIC loses", "bursts", "b", Status.HOLDS),
        _finding("CUBIC loses", "mininet", "c", Status.HOLDS),
        _finding("BBR loses", "plain", "c", Status.HOLDS),
    )
    parts = tuple(Part(name, name, f"{name}.toml", tables=(TABLE,), published=printed((4, 3, 2))) for name in "abc")
    other = Reproduction("t", "T", "N", parts, findings)
    matrix, about, numbers, *_ = shown(judged(other, {"a": study, "b": study}))
    assert isinstance(matrix, Rows)
    assert matrix.head == ("", "they found", "plain", "bursts")
    assert [list(row) for row in matrix.rows] == [
        ["1", "CUBIC loses", Status.FAILS, Status.HOLDS],
        ["2", "BBR loses", "–", "–"],  # noqa: RUF001
    ]
    assert about == Paragraph("1. CUBIC loses. They print (table 1): a tenth.")
    assert isinstance(numbers, Rows)
    assert [list(row) for row in numbers.rows] == [
        ["plain", Status.FAILS, "30 runs", "a: 30 valid"],
        ["bursts", Status.HOLDS, "30 runs", "b: 30 valid"],
    ]
    _, text = report.write(other, {"a": study, "b": study}, tmp_path / "out", "dumbbell")
    assert "| a | a |  | 6 | 10.00 | 1.00 | 2.00 |" in text.read_text()


def test_each_row_tells_the_outcomes_of_the_same_claim_in_all_others(study: Study) -> None:
    """A claim's readings, and claims of other texts about the same; but none that was not run."""
    findings = (
        _finding("CUBIC loses", "plain", "a", Status.FAILS, "losses"),
        _finding("CUBIC loses", "bursts", "a", Status.HOLDS, "losses"),
        _finding("CUBIC loses", "mininet", "b", Status.HOLDS, "losses"),
        _finding("BBR loses", "plain", "a", Status.UNKNOWN),
        _finding("CUBIC loses in a minute", "a minute", "a", Status.HOLDS, "losses"),
    )
    known = judged(Reproduction("t", "T", "N", (Part("a", "a", "a.toml"),), findings), {"a": study})
    assert [elsewhere(one, known) for one in known] == [
        "bursts: holds; finding 3 (a minute): holds",
        "plain: doesn't hold; finding 3 (a minute): holds",
        "plain: doesn't hold; bursts: holds; finding 3 (a minute): holds",
        "nowhere else",
        "finding 1 (plain): doesn't hold; finding 1 (bursts): holds",
    ]
    (told,) = [block.text for block in shown(known) if isinstance(block, Paragraph) and block.text.startswith("1.")]
    assert told.endswith("Judged elsewhere, too: finding 3 (a minute): holds.")


def test_what_we_ask_in_their_words_is_a_row_of_its_own(study: Study) -> None:
    """The claim's text stands once in the table, and the row counts apart from the study's own."""
    theirs = _finding("CUBIC loses", "plain", "a", Status.FAILS)
    ours = replace(_finding("CUBIC loses", "bursts", "a", Status.HOLDS), is_ours=True)
    known = judged(Reproduction("t", "T", "N", (Part("a", "a", "a.toml"),), (theirs, ours)), {"a": study})
    (table,) = matrix(known)
    assert [list(row) for row in table.rows] == [
        ["1", "CUBIC loses", Status.FAILS, "–"],  # noqa: RUF001
        ["2", "the same (ours, not theirs)", "–", Status.HOLDS],  # noqa: RUF001
    ]
    assert elsewhere(known[0], known) == "finding 2 (bursts): holds"
    said, *_ = answer(known)
    assert said == Paragraph("Of 1 finding of the study: 1 doesn't hold.")
