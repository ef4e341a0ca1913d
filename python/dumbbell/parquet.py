"""Reads Parquet files, which may be a stranger's: neither damage nor a small file of huge tables ends the program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

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
    return scan_all([path])


def scan_stamped(path: Path) -> tuple[pl.LazyFrame, Stamp]:
    """The table as `scan`, and the stamp of its file, by which a caller knows it again. Raises as `scan`."""
    import polars as pl

    with opened(path) as file:
        return pl.scan_parquet(file), _stamp(file)


def scan_all(paths: Iterable[Path], **options: Any) -> pl.LazyFrame:
    """The rows of several files, one after another. Raises as `scan`."""
    import polars as pl

    with ExitStack() as stack:
        # polars keeps descriptors of its own as long as the frame lives.
        return pl.scan_parquet([stack.enter_context(opened(path)) for path in paths], **options)


def read(path: Path, **options: Any) -> pl.DataFrame:
    """The table in a file. Raises as `scan`."""
    import polars as pl

    with opened(path) as file:
        return pl.read_parquet(file, **options)


def columns(path: Path) -> Mapping[str, pl.DataType]:
    """The columns of the table in a file, and their types. Raises as `scan`."""
    import polars as pl

    with opened(path) as file:
        return pl.read_parquet_schema(file)


def opened(path: Path) -> IO[bytes]:
    """The file, whose table has been checked: who reads it reads what was checked, whatever has that name by then.

    Raises `OSError` for a file that is no table, or whose table is far larger than any that we write.
    """
    file = os.fdopen(inputs.opened(path), "rb")
    try:
        if _CHECKED.get(path) != (found := _stamp(file)):
            core.check_table(f"/proc/self/fd/{file.fileno()}")
            _CHECKED[path] = found
    except BaseException:
        file.close()
        raise
    return file


Stamp = tuple[int, int, int]
"""Inode, time of change and size of a file."""


def _stamp(file: IO[bytes]) -> Stamp:
    known = os.fstat(file.fileno())
    return known.st_ino, known.st_mtime_ns, known.st_size


_CHECKED: Final[dict[Path, Stamp]] = {}
"""Files that were looked at."""
