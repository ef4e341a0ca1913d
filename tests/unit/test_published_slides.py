"""slides-2017: a finding about some setting, of which the authors do not say which it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.model import Judged, Status
from dumbbell.published.slides_2017 import evidence, findings
from dumbbell.published.slides_2017.findings import BUFFER, CC, JITTER_MS, LOSS, RTT, TABLE

SMALL, LARGE = "100 packets", "1000 packets"
CELLS = [{BUFFER: buffer, CC: cc} for buffer in (SMALL, LARGE) for cc in ("reno", "cubic")]
FAR = (0.1, 0.1, 0.1)
EITHER = (0.1 * JITTER_MS, JITTER_MS, 1.9 * JITTER_MS)


@dataclass
class Beside(Synthetic):
    """TCP beside UDP that loses nothing, with a jitter by cell and repetition."""

    repeat: int = 3
    ccs: tuple[str, ...] = ("reno", "udp")
    spread: float = 0
    jitter_ms: Callable[[Mapping[str, Any]], tuple[float, ...]] = lambda cell: FAR

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        tcp, udp = super()._flows(cell, index, repetition)
        tcp |= dict.fromkeys(("id", "group"), "tcp")
        udp |= dict.fromkeys(("id", "group"), "udp") | {"udp_lost": 0}
        return [tcp, udp | {"jitter_ms": self.jitter_ms(cell)[repetition]}]


@pytest.mark.parametrize(
    ("elsewhere", "status"), [(FAR, Status.FAILS), (EITHER, Status.UNKNOWN), ((JITTER_MS,) * 3, Status.HOLDS)]
)
def test_one_setting_is_enough_and_all_must_be_known_to_fail(
    tmp_path: Path, elsewhere: tuple[float, ...], status: Status
) -> None:
    def jitter_ms(cell: Mapping[str, Any]) -> tuple[float, ...]:
        return elsewhere if cell == {BUFFER: LARGE, CC: "cubic"} else FAR

    study = Study(Beside(cells=CELLS, jitter_ms=jitter_ms).write(tmp_path / "study"))
    judged = findings.judge_jitter({"udp": study}, "udp")
    assert judged.status is status
    assert judged.numbers.count("n = 3") == len(CELLS)


def test_a_finding_about_all_settings_fails_in_one(tmp_path: Path) -> None:
    """TCP is left with next to nothing in one setting, and with as much as UDP in the others."""

    def goodput(cell: Mapping[str, Any], cc: str) -> float:
        if cell[BUFFER] == SMALL:
            return 9.5 if cc == "udp" else 0.5
        return 5.0

    study = Study(Beside(cells=CELLS, goodput_mbit=goodput).write(tmp_path / "study"))
    assert findings.judge_crowded_out({"udp": study}, "udp").status is Status.FAILS
    small = Study(Beside(cells=CELLS[:2], goodput_mbit=goodput).write(tmp_path / "small"))
    assert findings.judge_crowded_out({"udp": small}, "udp").status is Status.HOLDS


def test_what_is_printed_of_one_run_is_asked_of_one_setting(tmp_path: Path) -> None:
    """TCP is crowded out in one setting, and the jitter is as printed in the other."""

    def goodput(cell: Mapping[str, Any], cc: str) -> float:
        return 5.0 if cell[BUFFER] != SMALL else 9.5 if cc == "udp" else 0.5

    def judged(place: str, where: str) -> Judged:
        made = Nothing(
            cells=CELLS, goodput_mbit=goodput, jitter_ms=lambda cell: (JITTER_MS,) * 3 if cell[BUFFER] == where else FAR
        )
        return findings.judge_at_once({"udp": Study(made.write(tmp_path / place))}, "udp")

    apart = judged("apart", LARGE)
    assert (apart.status, apart.numbers) == (Status.FAILS, "most in 100 packets, reno: 4 of the 5 hold, n = 3")
    assert judged("together", SMALL).status is Status.HOLDS


@dataclass
class Nothing(Beside):
    """TCP sends nothing again."""

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        return [{**row, "retransmitted_segments": 0} for row in super()._flows(cell, index, repetition)]


def test_what_two_flows_send_again_is_told_of_each_setting(tmp_path: Path) -> None:
    cells = [{RTT: rtt, CC: "reno"} for rtt in (["15 ms", "30 ms"], ["15 ms", "150 ms"])]
    said = evidence.again(Study(Two(cells=cells).write(tmp_path / "study")))
    assert said.endswith(" sent again: 15 ms and 30 ms, reno: 7 and 3; 15 ms and 150 ms, reno: 7 and 3.")


@dataclass
class Two(Synthetic):
    """A flow on a short path and one on a long one, which send 7 and 3 segments again."""

    ccs: tuple[str, ...] = ("reno", "reno")

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        rows = super()._flows(cell, index, repetition)
        names, again = ("short", "long"), (7, 3)
        return [
            row | dict.fromkeys(("id", "group"), name) | {"retransmitted_segments": n}
            for row, name, n in zip(rows, names, again, strict=True)
        ]


def test_what_was_not_run_says_so() -> None:
    assert findings.judge_nothing_lost({}, "udp").numbers == "not run"


def test_a_table_with_one_of_its_rtts_tells_nothing(tmp_path: Path) -> None:
    cells = [{RTT: "150 ms", LOSS: "0 %", CC: cc} for cc in ("reno", "cubic")]
    study = Study(Synthetic(cells=cells, repeat=3).write(tmp_path / "study"))
    asked = [one for one in findings.FINDINGS if one.reading in TABLE.values()]
    assert {one.judge({"table": study}).numbers for one in asked} == {"not run"}
