"""The quantities of two engines as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from dumbbell import outputs
from dumbbell.agree.comparison import Comparison
from dumbbell.errors import unwritable


def figures_table(comparison: Comparison) -> pl.DataFrame:
    """Every quantity of one scenario under two engines: means, difference and ratio with their intervals."""
    rows = [
        {
            "scope": row.what.scope,
            "of": row.what.of,
            "measure": row.what.measure,
            "unit": row.what.unit,
            "repetitions": len(row.first),
            **dict(zip(comparison.engines, (row.first_mean, row.second_mean), strict=True)),
            **interval("difference", row.difference),
            **interval("ratio", row.ratio),
        }
        for row in comparison.rows
    ]
    texts = dict.fromkeys(("scope", "of", "measure", "unit"), pl.String())
    numbers = dict.fromkeys((*comparison.engines, *_names("difference"), *_names("ratio")), pl.Float64())
    return pl.DataFrame(rows, schema={**texts, "repetitions": pl.Int64(), **numbers})


def write(frame: pl.DataFrame, directory: Path, stem: str) -> list[Path]:
    """Write `stem.parquet` and `stem.csv`. Returns their paths."""
    parquet, csv = directory / f"{stem}.parquet", directory / f"{stem}.csv"
    try:
        outputs.make_folder(directory)
        outputs.write_parquet(frame, parquet)
        outputs.write(csv, frame.with_columns(pl.selectors.float().round(6)).write_csv())
    except OSError as error:
        raise unwritable(directory, error) from error
    return [parquet, csv]


def _names(stem: str) -> tuple[str, str, str]:
    return stem, f"{stem}_low", f"{stem}_high"


def interval(stem: str, value: Any) -> dict[str, float | None]:
    """Columns `stem`, `stem_low` and `stem_high` of an interval; nulls of none."""
    values = (None, None, None) if value is None else (value.value, value.low, value.high)
    return dict(zip(_names(stem), values, strict=True))
