"""Functions that judge claims of the published studies: each holds on some figures, and fails on the opposite ones."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.aulbach_2020 import code as aulbach
from dumbbell.published.bernardi_2020 import code as bernardi
from dumbbell.published.bernardi_2020.evidence import CPUS
from dumbbell.published.folder import FILE
from dumbbell.published.model import Status
from dumbbell.published.packaged import folder
from dumbbell.published.recorded import ProbeRtt, Spell
from dumbbell.published.registry import KEYS

ELSEWHERE: Final = {
    "saw_tooth": "test_published_over_time.py",
    "no_timeouts": "test_published_bernardi.py",
    "oscillates": "test_published_bernardi.py",
    "detected": "test_published_bernardi.py",
    "flattens": "test_published_over_time.py",
    "lower_threshold": "test_published_bernardi.py",
    "throughput_oscillates": "test_published_bernardi.py",
    "halves_and_falls": "test_published_bernardi.py",
    "fills_again": "test_published_bernardi.py",
    "hardly_touched": "test_published_bernardi.py",
    "matter_most": "test_published_buffa.py",
}
HERE: Final = {"in_order", "keeps_more", "moves", "bears", "far_worse", "moves_together", "rests"}
CC: Final = "flows.0.cc"
H, F = Status.HOLDS, Status.FAILS
Cell = Mapping[str, Any]


def test_each_function_that_judges_is_fed_opposite_figures() -> None:
    texts = [tomllib.loads((folder(key) / FILE).read_text(encoding="utf-8")) for key in KEYS]
    judges = {claim["judge"] for text in texts for claim in text["claims"] if "judge" in claim}
    assert judges == HERE | ELSEWHERE.keys()
    for name, file in ELSEWHERE.items():
        assert name in Path(__file__).with_name(file).read_text(encoding="utf-8")


class ByCell(Synthetic):
    """Cells of one algorithm each, or of the pair that their case names."""

    def flows_of(self, cell: Cell) -> Sequence[str]:
        return str(cell["case"]).split("/") if "case" in cell else (cell[CC],)


def study(place: Path, cells: Sequence[Cell], mbit: Callable[[Cell, str], float]) -> Study:
    return Study(ByCell(cells=cells, goodput_mbit=mbit, spread=0.001).write(place / "study"))


@pytest.mark.parametrize(
    ("order", "status"),
    [(("startup", "drain", "probe_bw_up", "probe_rtt"), H), (("startup", "probe_rtt", "drain", "probe_bw_up"), F)],
)
def test_phases_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Sequence[str], status: Status) -> None:
    monkeypatch.setattr(aulbach, "every", lambda *_: iter([SimpleNamespace(acks=1)] * 4))
    monkeypatch.setattr(aulbach, "spells", lambda *_: [Spell(state, 0, 1) for state in order])
    assert aulbach.in_order(study(tmp_path, [{CC: "bbr"}], lambda *_: 1)).status is status


@pytest.mark.parametrize(("bbr2", "status"), [(16.0, H), (1.0, F)])
def test_what_is_in_flight_in_probe_rtt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bbr2: float, status: Status
) -> None:
    """BBRv1 keeps 4 packets, or 3 in one run. A run without PROBE_RTT tells nothing."""
    depths: dict[str, list[list[float]]] = {"bbr": [[4, 4], [3], [4], []], "bbr2": [[bbr2]] * 4}
    monkeypatch.setattr(aulbach, "every", lambda _, where: iter(depths[where[CC]]))
    monkeypatch.setattr(aulbach, "probe_rtt", lambda of, _: ProbeRtt([], [], of))
    judged = aulbach.keeps_more(study(tmp_path, [{CC: "bbr"}, {CC: "bbr2"}], lambda *_: 1))
    assert judged.status is status
    assert "bbr 3.67 [" in judged.numbers
    assert judged.numbers.endswith("packets, n = 3")


@pytest.mark.parametrize(("second", "status"), [("0.2 bdp", H), ("5 bdp", F)])
def test_the_crossing_of_two_shares_moves(tmp_path: Path, second: str, status: Status) -> None:
    """The share of bbr falls below a half after 1 BDP, that of bbr2 after 0.1 or after 1."""
    buffers = ("0.1 bdp", "1 bdp", "10 bdp")
    cells = [{"case": f"cubic/{cc}", aulbach.BUFFER: buffer} for cc in ("bbr", "bbr2") for buffer in buffers]
    last = {"bbr": 5.0, "bbr2": float(second.split()[0])}

    def mbit(cell: Cell, cc: str) -> float:
        return 10.0 if cc == "cubic" else 20.0 if float(cell[aulbach.BUFFER].split()[0]) < last[cc] else 5.0

    cases = {"cubic/bbr": "bbr", "cubic/bbr2": "bbr2"}
    assert aulbach.moves(study(tmp_path, cells, mbit), cases, 1.5).status is status


@pytest.mark.parametrize(("bbr", "status"), [(5.0, H), (0.02, F)])
def test_the_loss_that_a_flow_bears(tmp_path: Path, bbr: float, status: Status) -> None:
    """CUBIC bears 0.01 %."""
    losses = ("0.001 %", "0.01 %", "0.02 %", "0.05 %", "0.1 %", "1 %", "5 %", "50 %")
    cells = [{CC: cc, aulbach.LOSS: loss} for cc in ("cubic", "bbr") for loss in losses]
    most = {"cubic": 0.01, "bbr": bbr}

    def mbit(cell: Cell, cc: str) -> float:
        return 90.0 if float(cell[aulbach.LOSS].split()[0]) <= most[cc] else 5.0

    assert aulbach.bears(study(tmp_path, cells, mbit), 100e6, 10).status is status


@pytest.mark.parametrize(("bbr", "status"), [(20.0, H), (80.0, F)])
def test_one_cpu_makes_bbr_far_worse(tmp_path: Path, bbr: float, status: Status) -> None:
    cells = [{CC: cc, CPUS: 1} for cc in ("bbr", "bbr2")]
    found = study(tmp_path, cells, lambda _, cc: bbr if cc == "bbr" else 90.0)
    assert bernardi.far_worse(found, 0.8).status is status


@pytest.mark.parametrize(("rtt", "status"), [(0.95, H), (0.1, F)])
def test_rtt_and_queue_move_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rtt: float, status: Status
) -> None:
    monkeypatch.setattr(bernardi, "every", lambda *_: iter([1, 2, 3]))
    monkeypatch.setattr(bernardi, "together", lambda run, *_: {"cwnd": 0.95, "rtt": rtt + 0.001 * run})
    assert bernardi.moves_together(study(tmp_path, [{CC: "bbr"}], lambda *_: 1), 0.0).status is status


@pytest.mark.parametrize(("often", "depth", "status"), [(11, 120.0, H), (3, 120.0, F), (11, 3.0, F)])
def test_probe_rtt_is_more_frequent_and_shallower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, often: int, depth: float, status: Status
) -> None:
    """BBRv1 rests five times with two packets in flight."""

    def found(cc: str, _: str) -> ProbeRtt:
        times, packets = (5, 2.0) if cc == "bbr" else (often, depth)
        return ProbeRtt([float(i) for i in range(times)], [5.0], [packets])

    monkeypatch.setattr(bernardi, "every", lambda _, where: iter([where[CC]] * 3))
    monkeypatch.setattr(bernardi, "probe_rtts", found)
    assert bernardi.rests(study(tmp_path, [{CC: cc} for cc in ("bbr", "bbr2")], lambda *_: 1)).status is status


@pytest.mark.parametrize(("cc", "status"), [("bbr", F), ("bbr3", H)])
def test_a_window_that_stands_still_is_asked_of_their_algorithms_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cc: str, status: Status
) -> None:
    """Reno's moves with the queue, and that of `cc` does not."""
    monkeypatch.setattr(bernardi, "every", lambda _, where: iter([where[CC]] * 3))
    monkeypatch.setattr(bernardi, "together", lambda of, *_: {"cwnd": 0.2 if of == cc else 0.95, "rtt": 0.95})
    found = study(tmp_path, [{CC: "reno"}, {CC: cc}], lambda *_: 1)
    assert bernardi.moves_together(found, 0.0).status is status


def test_phases_of_bbr3_are_told_and_do_not_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aulbach, "every", lambda _, where: iter([SimpleNamespace(acks=1, cc=where[CC])] * 4))
    good, bad = (("startup", "drain", "probe_bw", "probe_rtt"), ("startup",))
    monkeypatch.setattr(
        aulbach, "spells", lambda run, _: [Spell(state, 0, 1) for state in (bad if run.cc == "bbr3" else good)]
    )
    judged = aulbach.in_order(study(tmp_path, [{CC: "bbr"}, {CC: "bbr3"}], lambda *_: 1))
    assert judged.status is H
    assert "bbr3 in 0 of 4 runs" in judged.numbers
