"""rincao-2021: what is printed, the cells of each reading, and findings that are judged under each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.claims import filled
from dumbbell.published.figures import same
from dumbbell.published.judge import Judge
from dumbbell.published.model import Judged, Part, Status, Studies
from dumbbell.published.registry import reproduction
from dumbbell.published.running import Order
from dumbbell.studies.prepared import prepared

STUDY = reproduction("rincao-2021")
PARTS = {part.name: part for part in STUDY.parts}
MIXES = [part for part in STUDY.parts if part.variant_of is None]
CONNECTIONS, UDP, RATE = "flows.0.connections", "flows.1.rate", "application_rate"
PRINTED, SHARES = (5, 10, 15, 20, 30), ("10 %", "20 %", "30 %")
PLAIN, BURSTS = "1 BDP, even UDP", "UDP in bursts"


def theirs(mix: str, cc: str, connections: int, udp: str) -> float:
    found = PARTS[mix].printed(RATE, cc, {CONNECTIONS: connections, UDP: udp})
    assert found is not None
    return found


def change(mix: str, cc: str, connections: int) -> float:
    return theirs(mix, cc, connections, "30 %") / theirs(mix, cc, connections, "10 %") - 1


def test_what_their_tables_say() -> None:
    """Figures of the tables, worked out beside the package: CUBIC at 300 Mbit/s and 5 connections has 14,6 and then
    11.8 Mbit/s."""
    assert mean(change("300-cubic", "cubic", n) for n in PRINTED) == pytest.approx(-0.377, abs=5e-4)
    assert mean(change("100-bbr", "bbr", n) for n in PRINTED) == pytest.approx(-0.059, abs=5e-4)
    of_cubic = {
        (part.name, n): change(part.name, "cubic", n) for part in MIXES if "cubic" in part.name for n in PRINTED
    }
    worst = min(of_cubic, key=lambda cell: of_cubic[cell])
    assert (worst, of_cubic[worst]) == (("300-cubic-25", 10), pytest.approx(-0.589, abs=5e-4))
    cells = [(part.name, n, udp) for part in MIXES if "cubic-" in part.name for n in PRINTED for udp in SHARES]
    above = [theirs(mix, "bbr", n, udp) / theirs(mix, "cubic", n, udp) for mix, n, udp in cells]
    assert sum(one > 1 for one in above) == len(above) == 90
    kept = [theirs(mix, "cubic", n, udp) / theirs(f"{mix[:3]}-cubic", "cubic", n, udp) for mix, n, udp in cells]
    assert (min(kept), sum(one > 0.5 for one in kept)) == (pytest.approx(0.334, abs=5e-4), 79)


@pytest.mark.parametrize(
    ("text", "mix", "cc"),
    [
        ("At 300 Mbit/s CUBIC alone loses more", "300-cubic", "cubic"),
        ("At 100 Mbit/s BBR alone loses less", "100-bbr", "bbr"),
        ("At 100 Mbit/s CUBIC alone loses less", "100-cubic", "cubic"),
    ],
)
def test_a_finding_on_a_mean_tells_the_changes_that_they_print(text: str, mix: str, cc: str) -> None:
    printed = next(one.printed for one in STUDY.findings if one.text.startswith(text))
    changes = [100 * change(mix, cc, n) for n in PRINTED]
    *first, last = (f"{round(one):+d}".replace("+0", "0") for one in changes)
    assert printed.startswith(f"{', '.join(first)} and {last} % with 5, 10, 15, 20 and 30 connections, ")
    assert printed.endswith(f"{mean(changes):.1f} % on average")


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


def test_each_reading_has_parts() -> None:
    for finding in STUDY.findings:
        if isinstance(finding.judge, Judge):
            claim = finding.judge.claim
            named = [filled(claim.part, one) for one in claim.settings]
            if finding.reading != "elephants are BBR's":
                assert set(named) & PARTS.keys(), (finding.text, finding.reading)
    assert len({one.reading for one in STUDY.findings if not one.is_ours}) == 8


def test_a_burst_has_what_is_due_in_its_period() -> None:
    """30 % of 300 Mbit/s for 100 ms are 9 Mbit, which take 0.9 ms at 10 Gbit/s."""
    in_bursts = [part for part in STUDY.parts if UDP in part.cells and part.cells[UDP]["key"] == "flows.1.on"]
    assert len(in_bursts) == 10 + 3 * 6 + 2
    for part in in_bursts:
        for share in SHARES:
            due_ms = int(part.name[:3]) * float(share.removesuffix(" %")) / 100 * 100 / 10_000
            assert part.cells[UDP][share] == f"{due_ms:g} ms"
        _, cells = prepared(Order(part, part.engines[0], quick=False).draft)
        for cell in cells:
            on, off = (float(cell[f"flows.1.{key}"].removesuffix(" ms")) for key in ("on", "off"))
            assert on + off == pytest.approx(100)


def judge(text: str, studies: Studies, reading: str = PLAIN) -> Judged:
    """The judgement of the finding that begins so."""
    found = [one for one in STUDY.findings if one.text.startswith(text) and one.reading == reading]
    return found[0].judge(studies)


@dataclass
class Mixed(Synthetic):
    """CUBIC's and BBR's connections of one cell."""

    spread: float = 0.001


def mixed(place: Path, name: str, cubic: float, bbr: float = 30, most: float = 1) -> Study:
    """A part's connections get so many Mbit/s; with 30 % UDP `most` times as much."""
    part = PARTS[name]
    cells = [part.translated({CONNECTIONS: n, UDP: udp}) for n in PRINTED for udp in SHARES]
    last = part.translated({CONNECTIONS: 5, UDP: SHARES[-1]})

    def goodput(cell: Mapping[str, Any], cc: str) -> float:
        value = {"cubic": cubic, "bbr": bbr}[cc]
        return value * most if all(cell[key] == value for key, value in last.items() if key != CONNECTIONS) else value

    return Study(
        Mixed(
            cells=cells, ccs=tuple(dict.fromkeys(one.of or "" for one in part.published)), goodput_mbit=goodput
        ).write(place)
    )


MIXED = [part.name for part in MIXES if "cubic-" in part.name]


@pytest.mark.parametrize(("kept", "status"), [(0.6, Status.HOLDS), (0.4, Status.FAILS)])
def test_cubic_starves_if_it_keeps_less_than_half(tmp_path: Path, kept: float, status: Status) -> None:
    """One mix can show that it does; that it doesn't takes all of them."""
    studies = {name: mixed(tmp_path / name, name, 10) for name in ("100-cubic", "300-cubic")}
    studies["100-cubic-50"] = mixed(tmp_path / "half", "100-cubic-50", 10 * kept)
    found = judge("BBR does not starve", studies)
    assert found.status is (Status.UNKNOWN if status is Status.HOLDS else status)
    assert f"{round(kept, 1):.1g} of what it has alone" in found.numbers
    assert found.numbers.endswith("; left out: 75 of 90 comparisons")
    studies |= {name: mixed(tmp_path / name, name, 10 * kept) for name in MIXED}
    assert judge("BBR does not starve", studies).status is status


def test_bbr_is_above_cubic_in_all_cells_or_the_finding_fails(tmp_path: Path) -> None:
    studies = {name: mixed(tmp_path / name, name, 10, 30) for name in MIXED}
    assert judge("BBR has more", studies).status is Status.HOLDS
    studies.pop("300-cubic-25")
    assert judge("BBR has more", studies).status is Status.UNKNOWN
    studies["100-cubic-25"] = mixed(tmp_path / "quarter", "100-cubic-25", 10, 9)
    found = judge("BBR has more", studies)
    assert found.status is Status.FAILS
    assert "above 1 in 60 of 75 cells; the whole interval is above in 60, below in 15" in found.numbers
    assert "BBR has 2.4 times CUBIC's in the geometric mean, least in 100-cubic-25" in found.numbers, "3^0.8 * 0.9^0.2"


def test_what_is_said_of_some_cell_fails_only_if_all_were_run(tmp_path: Path) -> None:
    """CUBIC loses a tenth in each cell. Where the mixes were not run, one of them could lose more."""
    text, reading = "CUBIC loses up to 59 %", "elephants are BBR's"
    studies = {name: mixed(tmp_path / name, name, 10, most=0.9) for name in ("100-cubic", "300-cubic")}
    assert judge(text, studies).status is Status.UNKNOWN
    others = {name: mixed(tmp_path / name, name, 10, most=0.9) for name in MIXED}
    assert judge(text, studies | others).status is Status.FAILS
    elephants = {
        f"{name}-elephants": mixed(tmp_path / f"{name}-e", f"{name}-elephants", 10, most=0.9) for name in MIXED
    }
    assert judge(text, studies | elephants, reading).status is Status.FAILS
    assert judge(text, elephants, reading).status is Status.UNKNOWN


def test_bbr_sends_ten_times_as_much_again_at_each_share_of_udp(tmp_path: Path) -> None:
    """BBR sends 500 segments again, and CUBIC 20, but 100 in one share."""

    def judged(place: str, most: int) -> Judged:
        cells = [{CONNECTIONS: 30, UDP: udp} for udp in SHARES]
        studies: Studies = {
            "100-bbr": Study(Resent(cells=cells, ccs=("bbr",)).write(tmp_path / place / "bbr")),
            "100-cubic": Study(Resent(cells=cells, ccs=("cubic",), most=most).write(tmp_path / place / "cubic")),
        }
        return judge("At 100 Mbit/s BBR alone retransmits far more", studies)

    holds = judged("a", 20)
    assert holds.status is Status.HOLDS
    assert holds.numbers.startswith("30 connections: 10 % UDP: BBR 500 [500, 500], CUBIC 20 [20, 20]; 20 % UDP: ")
    assert holds.numbers.endswith(", n = 5")
    assert judged("b", 100).status is Status.FAILS


@pytest.mark.parametrize(("most", "status"), [(0.62, Status.HOLDS), (0.9, Status.FAILS)])
def test_a_reading_is_judged_by_its_own_part(tmp_path: Path, most: float, status: Status) -> None:
    """CUBIC loses 38 or 10 % where UDP comes in bursts, and there only."""
    studies = {
        "300-cubic": mixed(tmp_path / "even", "300-cubic", 10),
        "300-cubic-bursts": mixed(tmp_path / "bursts", "300-cubic-bursts", 10, most=most),
    }
    central = [one for one in STUDY.findings if one.text == STUDY.findings[0].text]
    found = {one.reading: one.judge(studies) for one in central}
    assert found[PLAIN].status is Status.FAILS
    assert found[BURSTS].status is status
    assert {one.numbers for reading, one in found.items() if reading not in (PLAIN, BURSTS)} == {"not run"}


def test_below_a_part_is_what_it_sent_again(tmp_path: Path) -> None:
    tell = PARTS["100-cubic"].evidence
    assert tell is not None
    said = tell(Study(Again(cells=[{CONNECTIONS: 5, UDP: SHARES[0]}]).write(tmp_path / "a")))
    assert said == (
        "Segments sent again in a run: CUBIC 10 (0 to 20). All transfers were complete at the end of their runs."
    )


@dataclass
class Resent(Mixed):
    """Segments sent again: 500 of BBR; 20 of CUBIC, and `most` with 20 % UDP."""

    most: int = 20

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        of_cubic = self.most if cell[UDP] == "20 %" else 20
        again = 500 if self.ccs == ("bbr",) else of_cubic
        return [row | {"retransmitted_segments": again} for row in super()._flows(cell, index, repetition)]


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
        return [first, second | ({"fct_s": None} if self._is_cut(repetition) else {})]

    def _link(self, name: str, index: int, repetition: int) -> dict[str, Any]:
        return super()._link(name, index, repetition) | ({"utilisation_busy": None} if self._is_cut(repetition) else {})

    def _is_cut(self, repetition: int) -> bool:
        return repetition >= self.repeat - self.cut


@pytest.mark.parametrize(("cut", "said"), [(0, "n = 3"), (1, "n = 2"), (3, "not run")])
def test_a_run_whose_transfers_are_not_complete_has_no_last_one(tmp_path: Path, cut: int, said: str) -> None:
    cells = [{CONNECTIONS: 10, UDP: udp} for udp in SHARES]
    found = judge(
        "At 100 Mbit/s CUBIC alone with 10", {"100-cubic": Study(Cut(cells=cells, cut=cut).write(tmp_path / "s"))}
    )
    assert found.numbers.count(said) == (1 if cut == 3 else len(SHARES))


def test_a_change_is_told_beside_theirs_of_the_same_numbers_of_connections(tmp_path: Path) -> None:
    """CUBIC loses a tenth in the two numbers of connections that were run."""
    cells = [{CONNECTIONS: n, UDP: udp} for n in (5, 30) for udp in SHARES]

    def goodput(cell: Mapping[str, Any], _: str) -> float:
        return 9.0 if cell[UDP] == "30 %" else 10.0

    study = Study(Mixed(cells=cells, ccs=("cubic",), goodput_mbit=goodput, spread=0).write(tmp_path / "study"))
    found = judge("At 300 Mbit/s CUBIC alone loses", {"300-cubic": study})
    theirs_too = 100 * mean(change("300-cubic", "cubic", n) for n in (5, 30))
    assert found.numbers.startswith("CUBIC -9.99 ")
    assert found.numbers.endswith(f", n = 5, printed {theirs_too:.1f} % with 5 and 30 connections")
