"""Reads Parquet files, which may be a stranger's: neither damage nor a small file of huge tables ends the program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import inputs
from dumbbell.core import core

if TYPE_CHECKING:
    import polars as pl


def errors() -> tuple[type[BaseException], ...]:
    """The errors that polars raises for a damaged file. One is a panic of its code, which is no `Exception`."""
    from polars.exceptions import PanicException, PolarsError

    return PolarsError, PanicException, OSError


def why(error: BaseException) -> str:
    """The message of one of `errors()`, in a line."""
    said = error.strerror if isinstance(error, OSError) else None
    return (said or next(iter(str(error).splitlines()), "")) or type(error).__name__


def scan(path: Path) -> pl.LazyFrame:
    """The table in a file, lazily. Raises one of `errors()`, also if it is too large for its file."""
    import polars as pl

    check(path)
    return pl.scan_parquet(path)


def read(path: Path, **options: Any) -> pl.DataFrame:
    """The table in a file. Raises as `scan`."""
    import polars as pl

    check(path)
    return pl.read_parquet(path, **options)


def check(path: Path) -> None:
    """Raise `OSError` for a file that is no table, or whose table is far larger than any that we write."""
    file = inputs.opened(path)
    try:
        known = os.fstat(file)
        stamp = (known.st_ino, known.st_mtime_ns, known.st_size)
        if _CHECKED.get(path) != stamp:
            core.check_table(f"/proc/self/fd/{file}")
    finally:
        os.close(file)
    _CHECKED[path] = stamp


_CHECKED: Final[dict[Path, tuple[int, int, int]]] = {}
"""Files that were looked at: their inode, time and size."""
