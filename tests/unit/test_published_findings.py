"""The judgement of findings: pairs, the subject of an interval, and the limits of a single run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.document import Paragraph, Rows
from dumbbell.published.found import JudgedFinding, answer
from dumbbell.published.judging import interval_text
from dumbbell.published.model import Finding, Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.published.registry import reproduction
from dumbbell.statistics.intervals import paired_ratio, welch_difference

Cell = Mapping[str, Any]
CONNECTIONS, UDP, LEAST, MOST = "flows.0.connections", "flows.1.rate", "10 %", "30 %"


def judge(text: str, studies: Studies) -> Judged:
    """The judgement of the finding of rincao-2021 that begins so, which is about the study's own reading."""
    return next(one for one in reproduction("rincao-2021").findings if one.text.startswith(text)).judge(studies)


@dataclass
class Seeded(Synthetic):
    """Each run's flows get what `mbit` says of its cell and repetition."""

    ccs: tuple[str, ...] = ("cubic",)
    spread: float = 0
    mbit: Callable[[Cell, int], float] = lambda cell, repetition: 10.0

    def _flows(self, cell: Cell, index: int, repetition: int) -> list[dict[str, Any]]:
        self.goodput_mbit = lambda cell, _: self.mbit(cell, repetition)
        return super()._flows(cell, index, repetition)


def test_changes_are_of_the_same_seed_though_a_run_is_missing(tmp_path: Path) -> None:
    """Seeds 1 to 3 lose 10, 50 and 20 % with 5 connections, and twice as much with 10; seed 1 has no run with 10."""
    cells = [{CONNECTIONS: n, UDP: udp} for n in (5, 10) for udp in (LEAST, MOST)]
    loss = {5: (0.1, 0.5, 0.2), 10: (0.2, 0.9, 0.4)}

    def mbit(cell: Cell, repetition: int) -> float:
        return 10 * (1 - loss[cell[CONNECTIONS]][repetition] * (cell[UDP] == MOST))

    study = Study(Seeded(cells=cells, repeat=3, failed=(2,), mbit=mbit).write(tmp_path / "study"))
    found = judge("At 100 Mbit/s CUBIC alone loses", {"100-cubic": study})
    # The mean of -(0.5 + 0.9) / 2 and -(0.2 + 0.4) / 2.
    assert found.numbers.startswith("CUBIC -50 [")
    assert "], n = 2" in found.numbers.replace("] %", "]")


def test_an_interval_that_holds_the_printed_value_tells_nothing(tmp_path: Path) -> None:
    """One of two runs loses 5 %, the other 90 %: a wide interval must not make it easier."""
    cells = [{CONNECTIONS: 5, UDP: udp} for udp in (LEAST, MOST)]

    def study(name: str, *kept: float) -> Study:
        def mbit(cell: Cell, repetition: int) -> float:
            return 10 * (kept[repetition] if cell[UDP] == MOST else 1)

        return Study(Seeded(cells=cells, repeat=len(kept), mbit=mbit).write(tmp_path / name))

    assert judge("CUBIC loses up to", {"100-cubic": study("wide", 0.95, 0.1)}).status is Status.UNKNOWN
    more = {"100-cubic": study("wider", 0.95, 0.1), "300-cubic": study("sure", 0.3, 0.31, 0.29)}
    assert judge("CUBIC loses up to", more).status is Status.HOLDS, "some cell is enough"
    little = {"100-cubic": study("little", 0.9, 0.91, 0.89)}
    assert judge("CUBIC loses up to", little).status is Status.UNKNOWN, "39 cells were not run"


X, Y = [1.0, 2.0, 4.0], [3.0, 5.0, 15.0]


def seeded(values: list[float], cell: int = 0, first: int = 1) -> dict[tuple[int, int], float]:
    return {(cell, first + i): value for i, value in enumerate(values)}


def test_a_ratio_of_pairs_has_the_spread_of_both() -> None:
    found = ratio(seeded(Y), seeded(X, cell=1))
    assert found == paired_ratio(X, Y)
    assert found is not None
    assert found.low is not None
    assert found.low > 0


def test_a_missing_run_leaves_the_other_pairs() -> None:
    assert ratio(seeded([*Y, 7.0]), seeded(X, cell=1)) == paired_ratio(X, Y)


def test_a_ratio_of_other_seeds_is_welchs() -> None:
    found = ratio(seeded(Y), seeded(X, first=11))
    logs = welch_difference([math.log(x) for x in X], [math.log(y) for y in Y])
    assert found is not None
    assert found.low is not None
    assert logs.low is not None
    assert (math.log(found.value), math.log(found.low)) == pytest.approx((logs.value, logs.low))
    # The runs of both seeds are in two cells: the pairs are not known.
    assert ratio(seeded(Y) | seeded(Y, cell=1), seeded(X)) == ratio(seeded(Y) | seeded(Y, cell=1), seeded(X, first=11))


def test_a_ratio_with_a_zero_has_no_interval() -> None:
    found = ratio(seeded([0.0, 2.0]), seeded([1.0, 1.0]))
    assert found is not None
    assert (found.value, found.low, interval_text(found)) == (1, None, "1 (no interval)")
    assert ratio(seeded([1.0, 2.0]), seeded([0.0, 0.0])) is None
    assert ratio({}, seeded(X)) is None


@dataclass
class Both(Seeded):
    """Cells of one algorithm each."""

    def flows_of(self, cell: Cell) -> tuple[str, ...]:
        return (cell["flows.0.cc"],)


def test_what_scatters_as_much_below_the_line_is_not_taken_as_exact(tmp_path: Path) -> None:
    """BBR has 0.2 to 0.4 Mbit/s, always; the others 0.3 to 4. The mean of these is far above 0.4, and tells nothing."""
    case = "1000 ms, 0 %"
    cells = [{"case": case, "flows.0.cc": cc} for cc in ("reno", "cubic", "bbr")]

    def mbit(cell: Cell, repetition: int) -> float:
        return (0.3, 0.31, 0.29)[repetition] if cell["flows.0.cc"] == "bbr" else (0.3, 4, 4)[repetition]

    study = Study(Both(cells=cells, repeat=3, mbit=mbit).write(tmp_path / "study"))
    worse = next(one for one in reproduction("buffa-2020").findings if "BBR is worse" in one.text)
    assert worse.judge({"3-10mbit": study}).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ([Status.HOLDS, Status.HOLDS], Status.HOLDS),
        ([Status.HOLDS, Status.UNKNOWN], "holds or can't be told"),
        ([Status.FAILS, Status.UNKNOWN, Status.FAILS], "doesn't hold or can't be told"),
        ([Status.HOLDS, Status.FAILS, Status.UNKNOWN], "depends on the reading"),
        ([Status.UNKNOWN, Status.UNTESTED], Status.UNKNOWN),
    ],
)
def test_an_answer_depends_on_the_reading_only_if_readings_disagree(
    statuses: list[Status], outcome: Status | str
) -> None:
    readings = [Judged(status, "10 %") for status in statuses]
    finding = Finding("CUBIC loses", lambda _: readings[0])
    said, *tables = answer([JudgedFinding(finding, one, ()) for one in readings])
    assert isinstance(said, Paragraph)
    rows = [row for table in tables if isinstance(table, Rows) for row in table.rows]
    assert rows == ([] if outcome is Status.UNKNOWN else [(outcome, "CUBIC loses")])


@pytest.mark.parametrize(("cubic", "status"), [(5.8, Status.UNKNOWN), (6.0, Status.FAILS)])
def test_one_of_two_comparisons_decides_by_half_of_the_error(tmp_path: Path, cubic: float, status: Status) -> None:
    """Ten runs lie 1 Mbit/s above and below CUBIC's mean in turn: its interval ends 0.75 below it at 95 %, and 0.90 at
    97.5 %. Reno's tells nothing. So the claim that both stay under 5 Mbit/s fails by an interval at 97.5 %."""

    def mbit(cell: Cell, repetition: int) -> float:
        mean = cubic if cell["flows.0.cc"] == "cubic" else 4.9
        return mean + 1 - 2 * (repetition % 2)

    cells = [{"flows.0.cc": cc} for cc in ("reno", "cubic")]
    study = Study(Seeded(cells=cells, repeat=10, mbit=mbit).write(tmp_path / "study"))
    text = "3: with 0.5 % loss Reno and CUBIC stay under 5 Mbit/s (here: by the mean goodput of runs of 10 s)"
    claim = next(one for one in reproduction("bernardi-2020").findings if one.text == text)
    assert claim.judge({"3": study}).status is status
