"""buffa-2020: what its printed tables say of themselves, and the bounds that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.buffa_2020 import findings
from dumbbell.published.buffa_2020.printed import BLOCK, Printed, mean_of, table
from dumbbell.published.buffa_2020.reproduction import REPRODUCTION
from dumbbell.published.model import Status

LONG = [row for row in table() if row.test in ("3", "4") and row.delay_ms == 1000]
CCS = ("reno", "cubic", "bbr")


def test_bytes_are_in_iperfs_units() -> None:
    assert mean_of("4", 1000, "0 ms, 5 %", "bbr").transferred == pytest.approx(1.37 * 2**30)
    assert mean_of("3", None, "1000 ms, 5 %", "reno").transferred == 256 * 2**10
    assert mean_of("2", 10, "0 ms, 0 %", "cubic").transferred == pytest.approx(69 * 2**20)
    # Where a rate has three digits and the delay is short, bytes by rate are a minute.
    for row in table():
        if row.test in ("1", "2") and row.rate_bps > 1e9:
            assert row.implied_s == pytest.approx(60, rel=0.01)


def test_small_numbers_of_bytes_are_whole_blocks_of_iperfs() -> None:
    """The third digit of a number below 10 MB is 0.08 blocks at most, so its rounding is half of that."""
    small = [row.transferred / BLOCK for row in LONG if row.transferred < 10 * 2**20]
    assert len(small) == 16
    assert all(abs(blocks - round(blocks)) <= 0.041 for blocks in small)


def test_runs_with_long_delays_did_not_last_a_minute() -> None:
    lasted = sorted(row.implied_s for row in LONG)
    assert sum(one > 65 for one in lasted) == len(lasted) - 1
    assert (lasted[0], lasted[-1]) == (pytest.approx(56, abs=0.5), pytest.approx(300, abs=1))


def test_bounds_are_how_far_their_own_repetitions_lie_apart() -> None:
    assert pytest.approx(74.1 / 52.1) == findings.ALIKE
    assert pytest.approx(2.3 / 1.2) == findings.ABOUT


def test_what_they_print_is_compared_with_what_they_say() -> None:
    assert findings.printed_alike().startswith("8 of 10 ratios")
    assert (
        "2-none, 10 ms, 0 %: reno 5.95 times cubic; 2-none, 10 ms, 0 %: bbr 4.41 times cubic"
        in findings.printed_alike()
    )
    assert "most in 2-none, 10 ms, 5 %: bbr 508 times cubic" in findings.printed_up_to_100()


@dataclass
class Each(Synthetic):
    """Cells of one algorithm each."""

    def flows_of(self, cell: Mapping[str, Any]) -> tuple[str, ...]:
        return (cell["flows.0.cc"],)


def study(place: Path, mbit: Mapping[tuple[str, str], float]) -> Study:
    """Goodput by case and algorithm."""
    cells = [{"case": case, "flows.0.cc": cc} for case, cc in mbit]
    return Study(Each(cells=cells, goodput_mbit=lambda cell, cc: mbit[cell["case"], cc]).write(place))


@pytest.mark.parametrize(
    ("times", "status"), [(3430, Status.FAILS), (40, Status.FAILS), (100, Status.HOLDS), (160, Status.HOLDS)]
)
def test_far_more_than_100_times_is_not_about_100_times(tmp_path: Path, times: float, status: Status) -> None:
    lossy = {row.case for row in table() if row.loss > 0}
    found = study(tmp_path / "study", {(case, cc): times if cc == "bbr" else 1 for case in lossy for cc in CCS})
    judged = findings.judge_up_to_100(dict.fromkeys(findings.PARTS, found), "")
    assert judged.status is status
    assert "printed" in judged.numbers


def test_what_was_not_run_could_have_more(tmp_path: Path) -> None:
    def judged(times: float) -> Status:
        mbit = {("0 ms, 5 %", cc): times if cc == "bbr" else 1 for cc in CCS}
        return findings.judge_up_to_100({"2-none": study(tmp_path / f"{times}", mbit)}, "").status

    assert judged(100) is Status.UNKNOWN
    assert judged(3430) is Status.FAILS


def test_a_cell_that_is_not_alike_is_not_left_out(tmp_path: Path) -> None:
    mbit = {("0 ms, 0 %", cc): 10.0 for cc in CCS} | {("10 ms, 0 %", cc): 10.0 for cc in CCS}
    same = dict.fromkeys(findings.PARTS, study(tmp_path / "same", mbit))
    judged = findings.judge_alike(same, "")
    assert judged.status is Status.HOLDS
    assert "left out" not in judged.numbers
    twice = study(tmp_path / "twice", mbit | {("10 ms, 0 %", "bbr"): 21.0})
    judged = findings.judge_alike({"2-none": twice}, "")
    assert judged.status is Status.FAILS
    assert "10 ms, 0 %: bbr 2.1" in judged.numbers


def test_a_case_that_a_part_left_out_could_decide_otherwise(tmp_path: Path) -> None:
    both = study(tmp_path / "both", {(case, cc): 10.0 for case in ("0 ms, 0 %", "10 ms, 0 %") for cc in CCS})
    one = study(tmp_path / "one", {("0 ms, 0 %", cc): 10.0 for cc in CCS})
    judged = findings.judge_alike({**dict.fromkeys(findings.PARTS, both), "2-none": one}, "")
    assert judged.status is Status.UNKNOWN
    assert judged.numbers.endswith("; left out: 2 of 10 comparisons (2-none, 10 ms, 0 %)")


def test_a_reading_is_judged_by_its_own_runs(tmp_path: Path) -> None:
    found = study(tmp_path / "study", {("0 ms, 5 %", cc): 45.0 if cc == "bbr" else 1.0 for cc in CCS})
    assert findings.judge_at_a_gigabit({"4-mininet": found}, "-mininet").status is Status.HOLDS
    assert findings.judge_at_a_gigabit({"4-mininet": found}, "").status is Status.UNKNOWN


def test_every_printed_row_is_compared_by_rate_and_by_bytes() -> None:
    main = [part for part in REPRODUCTION.parts if part.variant_of is None]
    found = [(part.name, one.metric, one.of, one.where["case"]) for part in main for one in part.published]
    means: list[Printed] = [row for row in table() if row.repetition == "mean"]
    assert len(found) == len(set(found)) == 2 * len(means)
