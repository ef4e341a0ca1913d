"""buffa-2020: its printed numbers are its tables, and what these say of themselves."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from math import log
from pathlib import Path
from typing import Any, Final

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.published.buffa_2020 import code
from dumbbell.published.judge import Judge
from dumbbell.published.model import Judged, Status, Studies
from dumbbell.published.packaged import folder
from dumbbell.published.registry import reproduction
from dumbbell.statistics.factorial import effects

STUDY = reproduction("buffa-2020")
PARTS: Final = ("1", "2-none", "2-10mbit", "3-none", "3-10mbit", "4")

BLOCK: Final = 128 * 1024
"""Bytes that iperf writes at a time unless told otherwise."""
SAID_S: Final = 60
"""The duration of every run by the text and by the tables' own column."""


@dataclass(frozen=True)
class Printed:
    """A row of a table."""

    test: str
    delay_ms: float
    mbit: float | None
    """The limit of the rate; `None`: there is none."""
    loss: float
    """Percent."""
    cc: str
    repetition: str
    """`mean`, or a number. Tests 3 and 4 have one run of each."""
    rate_bps: float
    transferred: float
    """Bytes."""

    @property
    def case(self) -> str:
        """`10 ms, 5 %`."""
        return case(self.delay_ms, self.loss)

    @property
    def implied_s(self) -> float:
        """The duration by its own two numbers."""
        return 8 * self.transferred / self.rate_bps


def case(delay_ms: float, loss: float) -> str:
    """The name of a setting, without its rate."""
    return f"{delay_ms:g} ms, {loss:g} %"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table as printed."""
    with (folder("buffa-2020") / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def table() -> tuple[Printed, ...]:
    """All rows of the three tables."""
    files = (("1", "test1-loss"), ("2", "test2-factorial"), ("", "test3-4-delay"))
    return tuple(
        Printed(
            row.get("test") or test,
            float(row["delay_ms"]),
            float(row["bandwidth_mbit"]) if row["bandwidth_mbit"] else None,
            float(row["loss_percent"]),
            row["cc"],
            row.get("repetition", "mean"),
            1e9 * float(row["throughput_gbit"]) if test else 1e6 * float(row["throughput_mbit"]),
            _bytes(float(row["transferred_gbyte"]), 3) if test else _bytes(float(row["transferred_mbyte"]), 2),
        )
        for test, name in files
        for row in rows(name)
    )


def _bytes(value: float, power: int) -> float:
    """Bytes of a number in MB (power 2) or GB (power 3).

    iperf prints KBytes, MBytes or GBytes of powers of 1024, whichever is at least 1. The tables turn one into the other
    by moving the point: 1370 MB is 1.37 GBytes, 0.256 MB is 256 KBytes.
    """
    while value >= 1000:
        value, power = value / 1000, power + 1
    while value < 1:
        value, power = value * 1000, power - 1
    return value * 1024.0**power


def means() -> list[Printed]:
    """The rows without single repetitions, where a mean is printed, too."""
    return [row for row in table() if row.repetition == "mean"]


def mean_of(test: str, mbit: float | None, name: str, cc: str) -> Printed:
    """The mean of a case."""
    found = [row for row in means() if (row.test, row.mbit, row.case, row.cc) == (test, mbit, name, cc)]
    return found[0]


def spread(lossy: bool) -> float:
    """The largest factor between two repetitions of one setting, with loss or without."""
    single = [row for row in table() if row.repetition != "mean" and (row.loss > 0) == lossy]
    same = groupby(sorted(single, key=_setting), key=_setting)
    return max(_factor(row.transferred for row in group) for _, group in same)


def _setting(row: Printed) -> tuple[str, float, float, float, str]:
    return row.test, row.delay_ms, row.mbit or 0.0, row.loss, row.cc


def _factor(values: Iterable[float]) -> float:
    found = list(values)
    return max(found) / min(found)


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
    assert spread(lossy=False) == pytest.approx(74.1 / 52.1)
    assert spread(lossy=True) == pytest.approx(2.3 / 1.2)
    text = (folder("buffa-2020") / "study.toml").read_text(encoding="utf-8")
    assert {"52.1 / 74.1", "74.1 / 52.1", "1.2 / 2.3", "2.3 / 1.2"} == set(re.findall(r"[\d.]+ / [\d.]+", text))


def printed(claim: str) -> list[float]:
    """The printed ratios of the bytes of all comparisons of a claim, in order."""
    judge = next(one.judge for one in STUDY.findings if one.text.startswith(claim))
    assert isinstance(judge, Judge)
    found = []
    for one in judge.claim.settings:
        part = judge.parts[one["part"]]
        a, b = (part.printed("received_bytes", one[cc], {"case": one["case"]}) for cc in "ab")
        assert a
        assert b
        found.append(a / b)
    return found


ALIKE, ALIKE_TOO = "Without loss all three algorithms", "Without loss all three carry alike in test 2"


def test_what_they_print_is_compared_with_what_they_say() -> None:
    assert printed(ALIKE) == pytest.approx([1.23, 1.41], abs=0.005)
    alike = printed(ALIKE_TOO)
    beyond = [one for one in alike if not 52.1 / 74.1 <= one <= 74.1 / 52.1]
    assert (len(alike), beyond) == (8, pytest.approx([5.95, 4.41], abs=0.005))
    lossy = printed("With loss BBR carries up to")
    assert (len(lossy), max(lossy), min(lossy)) == (6, pytest.approx(53, rel=1e-2), pytest.approx(20, rel=1e-2))
    lossy = printed("With loss BBR carries more in tests 2")
    assert (len(lossy), min(lossy)) == (20, pytest.approx(1.36, rel=1e-2))
    assert printed("With a delay of 1 s, a limit of 10 Mbit/s") == pytest.approx([1.05], rel=1e-2)
    assert printed("At 1 Gbit/s with 5 % loss BBR carries almost") == pytest.approx([46.1], rel=1e-2)
    assert printed("At 1 Gbit/s with 5 % loss CUBIC") == pytest.approx([2.98], rel=1e-2)
    assert printed("With a long delay and no loss BBR has") == pytest.approx([0.508, 0.533], rel=1e-2)


def judge(text: str, studies: Studies, reading: str = "both links") -> Judged:
    """The judgement of the finding that begins so."""
    found = [one for one in STUDY.findings if one.text.startswith(text) and one.reading == reading]
    return found[0].judge(studies)


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
    judged = judge("With loss BBR carries up to", dict.fromkeys(PARTS, found))
    assert judged.status is status
    assert "printed" in judged.numbers


@pytest.mark.parametrize(("times", "status"), [(1.0, Status.FAILS), (1.05, Status.HOLDS), (1.2, Status.FAILS)])
def test_equal_rates_are_not_5_percent_apart(tmp_path: Path, times: float, status: Status) -> None:
    rates = {("1000 ms, 0 %", "reno"): 5.0 * times, ("1000 ms, 0 %", "cubic"): 5.0, ("1000 ms, 0 %", "bbr"): 1.0}
    found = judge("With a delay of 1 s, a limit of 10 Mbit/s", {"3-10mbit": study(tmp_path / "study", rates)})
    assert found.status is status


def test_what_was_not_run_could_have_more(tmp_path: Path) -> None:
    def judged(times: float) -> Status:
        mbit = {("0 ms, 5 %", cc): times if cc == "bbr" else 1 for cc in CCS}
        return judge("With loss BBR carries up to", {"1": study(tmp_path / f"{times}", mbit)}).status

    assert judged(100) is Status.UNKNOWN
    assert judged(3430) is Status.FAILS


def test_a_cell_that_is_not_alike_is_not_left_out(tmp_path: Path) -> None:
    mbit = {("0 ms, 0 %", cc): 10.0 for cc in CCS} | {("10 ms, 0 %", cc): 10.0 for cc in CCS}
    same = dict.fromkeys(PARTS, study(tmp_path / "same", mbit))
    judged = judge(ALIKE_TOO, same)
    assert judged.status is Status.HOLDS
    assert "left out" not in judged.numbers
    twice = study(tmp_path / "twice", mbit | {("10 ms, 0 %", "bbr"): 21.0})
    judged = judge(ALIKE_TOO, {"2-none": twice})
    assert judged.status is Status.FAILS
    assert "10 ms, 0 %: bbr 2.1" in judged.numbers


def test_a_case_that_a_part_left_out_could_decide_otherwise(tmp_path: Path) -> None:
    both = study(tmp_path / "both", {(case, cc): 10.0 for case in ("0 ms, 0 %", "10 ms, 0 %") for cc in CCS})
    one = study(tmp_path / "one", {("0 ms, 0 %", cc): 10.0 for cc in CCS})
    judged = judge(ALIKE_TOO, {**dict.fromkeys(PARTS, both), "2-none": one})
    assert judged.status is Status.UNKNOWN
    assert judged.numbers.endswith("; left out: 2 of 8 comparisons (2-none, 10 ms, 0 %)")


def test_a_reading_is_judged_by_its_own_runs(tmp_path: Path) -> None:
    found = study(tmp_path / "study", {("0 ms, 5 %", cc): 45.0 if cc == "bbr" else 1.0 for cc in CCS})
    by_table = "At 1 Gbit/s with 5 % loss BBR carries 46"
    assert judge(by_table, {"4-mininet": found}, "Mininet's links").status is Status.HOLDS
    assert judge(by_table, {"4-mininet": found}).status is Status.UNKNOWN
    by_text = "At 1 Gbit/s with 5 % loss BBR carries almost"
    assert judge(by_text, {"4-mininet": found}, "Mininet's links").status is Status.FAILS


@pytest.mark.parametrize(("bbr", "cubic10", "status"), [(5, 0.5, Status.HOLDS), (0.5, 2, Status.FAILS)])
def test_what_falls_with_more_loss(tmp_path: Path, bbr: float, cubic10: float, status: Status) -> None:
    """From 1 to 5 % of loss Reno and CUBIC fall from 10 to 1 Mbit/s, BBR to `bbr`. With 10 % CUBIC has `cubic10`."""
    at_1 = {("0 ms, 1 %", cc): 10.0 for cc in CCS}
    at_5 = {("0 ms, 5 %", "bbr"): bbr, ("0 ms, 5 %", "reno"): 1.0, ("0 ms, 5 %", "cubic"): 1.0}
    at_10 = {("0 ms, 10 %", "reno"): 1.0, ("0 ms, 10 %", "cubic"): cubic10}
    found = {"1": study(tmp_path / "study", at_1 | at_5 | at_10)}
    assert judge("From 1 to 5 % of loss BBR", found).status is status
    assert judge("From 5 to 10 % of loss Reno", found).status is status


@pytest.mark.parametrize(("limit", "loss", "status"), [(0.01, 0.1, Status.HOLDS), (0.1, 0.01, Status.FAILS)])
def test_which_factor_of_test_2_matters_most(tmp_path: Path, limit: float, loss: float, status: Status) -> None:
    """A limit and loss each leave a share of 1 Gbit/s."""
    cases = ("0 ms, 0 %", "10 ms, 0 %", "0 ms, 5 %", "10 ms, 5 %")
    free = {(case, cc): 1000 * (loss if "5 %" in case else 1) for case in cases for cc in CCS}
    limited = study(tmp_path / "limited", {key: value * limit for key, value in free.items()})
    unlimited = study(tmp_path / "unlimited", free)
    assert code.matter_most(limited, [unlimited], ["limit", "loss"]).status is status
    few = study(tmp_path / "few", dict(list(free.items())[:3]))
    assert code.matter_most(limited, [few], ["limit", "loss"]).numbers == "not run"


def test_shares_of_the_variation_of_their_own_table() -> None:
    runs: dict[tuple[str, ...], list[float]] = {}
    for row in table():
        if row.test == "2" and row.repetition != "mean":
            runs.setdefault((str(row.mbit), *row.case.split(", "), row.cc), []).append(log(row.transferred))
    shares = {term.factors: 100 * term.share.value for term in effects(code.FACTORS, runs)}
    assert list(shares)[:4] == [("limit",), ("loss",), ("limit", "loss"), ("algorithm",)]
    assert [round(shares[one], 1) for one in list(shares)[:4]] == [35.6, 33.5, 14.3, 5.8]
    assert round(shares["delay",], 1) == 1.0


def test_every_printed_row_is_compared_by_rate_and_by_bytes() -> None:
    """The printed numbers of a part are the tables' own, in base units, each once."""
    numbers = {"1": ("1", None), "2-none": ("2", None), "2-10mbit": ("2", 10.0), "3-none": ("3", None),
               "3-10mbit": ("3", 10.0), "4": ("4", 1000.0)}  # fmt: skip
    main = {part.name: part for part in STUDY.parts if part.variant_of is None}
    assert tuple(main) == PARTS
    for name, part in main.items():
        theirs = {
            (row.case, row.cc, metric): value
            for row in means()
            if (row.test, row.mbit) == numbers[name]
            for metric, value in (("goodput", row.rate_bps), ("received_bytes", row.transferred))
        }
        ours = {(one.where["case"], one.of, one.metric): one.value for one in part.published}
        assert ours == pytest.approx(theirs)
        assert len(part.published) == len(theirs)
