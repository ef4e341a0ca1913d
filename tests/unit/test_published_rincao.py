"""rincao-2021: what is printed, the cells of each reading, and findings that are judged under each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.figures import same
from dumbbell.published.model import Part, Status
from dumbbell.published.registry import reproduction
from dumbbell.published.rincao_2021 import evidence, judges, printed
from dumbbell.published.rincao_2021.grid import PRINTED, SHARES, UDP, Mix
from dumbbell.published.rincao_2021.readings import BURSTS, PLAIN, READINGS, Reading, on_off
from dumbbell.published.running import Order
from dumbbell.studies.rounds import prepared

STUDY = reproduction("rincao-2021")


def test_what_their_tables_say() -> None:
    """Figures of the tables, worked out beside the package: CUBIC at 300 Mbit/s and 5 connections has 14,6 and then
    11.8 Mbit/s."""
    assert printed.mean_change(Mix(300, 100), "cubic") == pytest.approx(-0.377, abs=5e-4)
    assert printed.mean_change(Mix(100, 0), "bbr") == pytest.approx(-0.059, abs=5e-4)
    assert printed.most_lost() == (pytest.approx(-0.589, abs=5e-4), "300-cubic-25, 10 connections")
    assert sum(one > 1 for one in printed.bbr_above_cubic()) == len(printed.bbr_above_cubic()) == 90
    kept = printed.kept_by_cubic()
    assert (min(kept), sum(one > judges.STARVED for one in kept)) == (pytest.approx(0.334, abs=5e-4), 79)


@pytest.mark.parametrize("part", STUDY.parts, ids=lambda part: part.name)
def test_each_printed_number_has_one_cell_of_its_part_with_each_engine(part: Part) -> None:
    """An engine may leave out cells, but not all."""
    for engine in part.engines:
        _, cells = prepared(Order(part, engine, quick=False).draft)
        counts = [sum(_is_of(cell, one.where) for cell in cells) for one in part.published]
        assert max(counts) == 1, engine
        assert counts.count(1) >= 2 * len(PRINTED), engine
        if engine == part.engines[0]:
            assert set(counts) == {1}


def _is_of(cell: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(key in cell and same(cell[key], value) for key, value in where.items())


def test_readings_are_parts() -> None:
    names = {part.name for part in STUDY.parts}
    for reading in READINGS:
        assert any(reading.part(Mix(mbit, 50)) in names for mbit in (100, 300)), reading.said


def test_a_burst_has_what_is_due_in_its_period() -> None:
    """30 % of 300 Mbit/s for 100 ms are 9 Mbit, which take 0.9 ms at 10 Gbit/s."""
    assert on_off(Mix(300, 100), "30 %") == ("0.9 ms", "99.1 ms")
    assert on_off(Mix(100, 0), "10 %") == ("0.1 ms", "99.9 ms")


@dataclass
class Mixed(Synthetic):
    """CUBIC's and BBR's connections of one cell."""

    spread: float = 0.001


def mixed(place: Path, reading: Reading, mix: Mix, cubic: float, bbr: float = 30, most: float = 1) -> Study:
    """Connections get so many Mbit/s; with 30 % UDP `most` times as much."""
    cells = [reading.where(mix, n, udp) for n in PRINTED for udp in SHARES]
    last = reading.where(mix, 5, SHARES[-1])

    def goodput(cell: Mapping[str, Any], cc: str) -> float:
        value = {"cubic": cubic, "bbr": bbr}[cc]
        return value * most if all(cell[key] == value for key, value in last.items() if key != CONNECTIONS) else value

    return Study(Mixed(cells=cells, ccs=tuple(mix.algorithms), goodput_mbit=goodput).write(place))


CONNECTIONS = "flows.0.connections"


@pytest.mark.parametrize(("kept", "status"), [(0.6, Status.HOLDS), (0.4, Status.FAILS)])
def test_cubic_starves_if_it_keeps_less_than_half(tmp_path: Path, kept: float, status: Status) -> None:
    alone, half = Mix(100, 100), Mix(100, 50)
    studies = {
        "100-cubic": mixed(tmp_path / "alone", PLAIN, alone, 10),
        "100-cubic-50": mixed(tmp_path / "half", PLAIN, half, 10 * kept),
    }
    found = judges.no_starvation(studies, PLAIN)
    assert found.status is status
    assert f"{round(kept, 1):.1g} of what it has alone" in found.numbers


def test_bbr_is_above_cubic_in_all_cells_or_the_finding_fails(tmp_path: Path) -> None:
    half, quarter = Mix(100, 50), Mix(100, 25)
    studies = {"100-cubic-50": mixed(tmp_path / "half", PLAIN, half, 10, 30)}
    assert judges.bbr_above(studies, PLAIN).status is Status.HOLDS
    studies["100-cubic-25"] = mixed(tmp_path / "quarter", PLAIN, quarter, 10, 9)
    found = judges.bbr_above(studies, PLAIN)
    assert found.status is Status.FAILS
    assert "above 1 in 15 of 30 cells, surely in 15, surely not in 15" in found.numbers


@pytest.mark.parametrize(("most", "status"), [(0.62, Status.HOLDS), (0.9, Status.FAILS)])
def test_a_reading_is_judged_by_its_own_part(tmp_path: Path, most: float, status: Status) -> None:
    """CUBIC loses 38 or 10 % where UDP comes in bursts, and there only."""
    mix = Mix(300, 100)
    studies = {
        "300-cubic": mixed(tmp_path / "even", PLAIN, mix, 10),
        "300-cubic-bursts": mixed(tmp_path / "bursts", BURSTS, mix, 10, most=most),
    }
    central = [one for one in STUDY.findings if one.text == STUDY.findings[0].text]
    found = {one.reading: one.judge(studies) for one in central}
    assert found[PLAIN.said].status is Status.FAILS
    assert found[BURSTS.said].status is status
    assert {one.numbers for reading, one in found.items() if reading not in (PLAIN.said, BURSTS.said)} == {"not run"}


def test_below_a_part_is_what_it_sent_again(tmp_path: Path) -> None:
    said = evidence.of(Mix(100, 100), PLAIN)(
        Study(Again(cells=[{CONNECTIONS: 5, UDP: SHARES[0]}]).write(tmp_path / "a"))
    )
    assert said == (
        "Segments sent again in a run: CUBIC 10 (0 to 20). All transfers were complete at the end of their runs."
    )


@dataclass
class Again(Mixed):
    """0, 10 and 20 segments in three repetitions."""

    repeat: int = 3
    ccs: tuple[str, ...] = ("cubic",)

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        return [row | {"retransmitted_segments": 10 * repetition} for row in super()._flows(cell, index, repetition)]


@dataclass
class Cut(Mixed):
    """Two transfers of CUBIC, of which the second is not complete in the last `cut` of three repetitions."""

    repeat: int = 3
    ccs: tuple[str, ...] = ("cubic", "cubic")
    fct_s: float | None = 5
    cut: int = 0

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        first, second = super()._flows(cell, index, repetition)
        return [first, second | ({"fct_s": None} if repetition >= self.repeat - self.cut else {})]


@pytest.mark.parametrize(("cut", "said"), [(0, "n = 3"), (1, "n = 2"), (3, "in no run were all transfers complete")])
def test_a_run_whose_transfers_are_not_complete_has_no_last_one(tmp_path: Path, cut: int, said: str) -> None:
    cells = [PLAIN.where(Mix(100, 100), 10, udp) for udp in SHARES]
    found = judges.utilisation({"100-cubic": Study(Cut(cells=cells, cut=cut).write(tmp_path / "study"))}, PLAIN)
    assert found.numbers.count(said) == len(SHARES)
