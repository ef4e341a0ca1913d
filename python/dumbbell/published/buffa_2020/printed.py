"""The printed tables of buffa-2020: rates, bytes, repetitions, and what these say of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Final

from dumbbell.published.packaged import rows

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
        for row in rows(f"buffa-2020/{name}")
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
