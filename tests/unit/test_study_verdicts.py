"""How far a study can be trusted, by the verdicts of its runs."""

from __future__ import annotations

import polars as pl
import pytest

from dumbbell.statistics.verdicts import Verdicts, verdicts


@pytest.mark.parametrize(
    ("counts", "runs", "usable", "worst", "said"),
    [
        ((3, 0, 0, 0), 3, 3, "valid", "3 valid"),
        ((1, 2, 0, 0), 3, 3, "suspect", "1 valid, 2 suspect (stall 2, steal 1)"),
        ((2, 0, 1, 0), 3, 2, "suspect", "2 valid, 1 invalid"),
        ((0, 1, 0, 4), 5, 1, "suspect", "0 valid, 1 suspect (stall 2, steal 1), 4 failed"),
        ((0, 0, 2, 1), 3, 0, "invalid", "0 valid, 2 invalid, 1 failed"),
    ],
)
def test_counts(counts: tuple[int, int, int, int], runs: int, usable: int, worst: str, said: str) -> None:
    found = Verdicts(*counts, because={"stall": 2, "steal": 1})
    assert (found.runs, found.usable, found.worst, str(found)) == (runs, usable, worst, said)


def test_each_run_counts_once_and_checks_are_sorted_by_their_runs() -> None:
    """A run that failed is no suspect; one that is invalid is invalid, whether or not it failed."""
    runs = [
        *[(None, "valid", None)] * 3,
        (None, None, None),
        *[(None, "suspect", ", ".join("abcde"[least:])) for least in range(5)],
        *[("killed", verdict, "x") for verdict in ("suspect", "valid", None, "invalid")],
        (None, "invalid", "y"),
    ]
    frame = pl.DataFrame(runs, schema=["error", "verdict", "reasons"], orient="row")
    found = verdicts(frame)
    assert found == Verdicts(4, 5, 2, 3, {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})
    assert list(found.because) == ["e", "d", "c", "b", "a"]
    assert found.runs == len(runs)
