"""The columns of every table: what readers may rely on. `docs/reference/records.md` says what each one means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from dumbbell.records.columns import STUDY_TABLES, TABLES

__all__ = ["SCHEMA", "STUDY_TABLES", "TABLES", "polars_schema"]

if TYPE_CHECKING:
    import polars as pl

SCHEMA: Final = 2
"""Version of the run directory's layout. Grows when a reader of the former layout would misread the new one."""


def polars_schema(table: str, tables: Mapping[str, Mapping[str, str]] = TABLES) -> dict[str, pl.DataType]:
    """The types of `table` as polars reads them; of a run's, or of a study's (`STUDY_TABLES`)."""
    import polars as pl

    types: dict[str, pl.DataType] = {
        "i64": pl.Int64(),
        "u16": pl.UInt16(),
        "u32": pl.UInt32(),
        "u64": pl.UInt64(),
        "f32": pl.Float32(),
        "f64": pl.Float64(),
        "bool": pl.Boolean(),
        "dict": pl.Categorical(),
        "str": pl.String(),
    }
    return {column: types[kind] for column, kind in tables[table].items()}
