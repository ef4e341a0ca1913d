"""Digests of a run's tables: equal if the tables hold the same, however their files are written.

The crate `rows` says what is hashed, and computes the same from rows that were never written, as in a browser.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from dumbbell import parquet
from dumbbell.records import columns

TABLES: Final = tuple(sorted(columns.TABLES.keys() - {"flows", "routes"}))
"""The tables that engines write while a run goes on, without those of routing daemons."""


def digests(directory: Path) -> dict[str, str]:
    """The SHA-256 of each table of the run in `directory`: 64 hexadecimal digits by the table's name."""
    files = {table: directory / f"{table}.parquet" for table in TABLES}
    return {table: digest(parquet.read(file)) for table, file in files.items() if file.exists()}


def digest(table: pl.DataFrame) -> str:
    """The SHA-256 of a table."""
    found = hashlib.sha256()
    for column in table.get_columns():
        found.update(column.name.encode() + b"\0")
        found.update(hashlib.sha256(_cells(column)).digest())
    return found.hexdigest()


def _cells(column: pl.Series) -> bytes:
    """Nine bytes for each row: 1 and the value, or zeros."""
    cells = np.zeros(len(column), dtype=[("is_there", "u1"), ("value", "<u8")])
    is_there = column.is_not_null().to_numpy()
    cells["is_there"] = is_there
    cells["value"][is_there] = _values(column.drop_nulls())
    return cells.tobytes()


def _values(column: pl.Series) -> np.ndarray:
    if column.dtype.is_float():
        return column.cast(pl.Float64).to_numpy().astype("<f8").view("<u8")
    if column.dtype.is_integer():
        wide = column.cast(pl.Int64 if column.dtype.is_signed_integer() else pl.UInt64)
        return wide.to_numpy().view("<u8")
    if column.dtype == pl.Boolean:
        return column.cast(pl.UInt64).to_numpy()
    words = column.cast(pl.String)
    known = {word: int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little") for word in words.unique()}
    return words.replace_strict(known, return_dtype=pl.UInt64).to_numpy()
