"""Tables of a stranger's study that repeat a row: joins do not multiply them, which could take any memory."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Synthetic

from dumbbell.errors import InputError
from dumbbell.statistics.metrics import METRICS, between, values
from dumbbell.studies import Study
from dumbbell.studies.entries import FILE
from dumbbell.studies.shards import SHARDS

TIMES = 300
"""Product of three tables: 27,000,000 rows."""
FLOWS = ({"flows": "cubic+bbr"}, {"flows": "cubic"}, {"flows": "bbr"})


def repeated(path: Path) -> None:
    rows = pl.read_parquet(path)
    pl.concat([rows] * TIMES).write_parquet(path)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    made = Synthetic(cells=FLOWS, repeat=2).write(tmp_path / "study")
    for path in (*made.glob(f"{SHARDS}/*/*.parquet"), made / FILE):
        repeated(path)
    return made


def test_rows_that_are_repeated_count_once(study: Path, tmp_path: Path) -> None:
    whole, found = Study(Synthetic(cells=FLOWS, repeat=2).write(tmp_path / "whole")), Study(study)
    for table in ("runs", "flows", "links"):
        assert found.scan(table).collect().equals(whole.scan(table).collect()), table
    for metric in METRICS:
        assert values(found, metric).equals(values(whole, metric)), metric


def test_runs_of_one_seed_are_not_all_compared_with_each_other(tmp_path: Path) -> None:
    made = Synthetic(cells=FLOWS, repeat=200).write(tmp_path / "study")
    (runs,) = made.glob(f"{SHARDS}/*/runs.parquet")
    rows = pl.read_parquet(runs)
    rows.with_columns(seed=pl.lit(1, rows.schema["seed"])).write_parquet(runs)
    found = values(Study(made), "harm_goodput")
    assert 0 < found.height <= 400


def test_cells_that_are_too_many_to_compare_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(between, "MOST_PAIRS", 5)
    cells = [{"flows": "cubic+bbr"}] * 3 + [{"flows": "cubic"}] * 2
    with pytest.raises(InputError, match="6 pairs of cells have equal values"):
        values(Study(Synthetic(cells=cells, repeat=1).write(tmp_path / "study")), "harm_goodput")
