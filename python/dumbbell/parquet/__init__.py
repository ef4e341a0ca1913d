"""Reads Parquet files, which may be a stranger's: neither damage nor a small file of huge tables ends the program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import inputs
from dumbbell.parquet import thrift

if TYPE_CHECKING:
    import polars as pl

FREE_ROWS: Final = 200_000
ROWS_PER_BYTE: Final = 8
"""Rows that a table may have: so many, or else so many for each byte of its file. Ours have less than one."""
FREE_BYTES: Final = 64 << 20
BYTES_PER_BYTE: Final = 200
"""Bytes that its pages may have once they are decompressed, likewise."""
LARGEST_FOOTER: Final = 64 << 20


def errors() -> tuple[type[BaseException], ...]:
    """The errors that polars raises for a damaged file. One is a panic of its code, which is no `Exception`."""
    from polars.exceptions import PanicException, PolarsError

    return PolarsError, PanicException, OSError


def why(error: BaseException) -> str:
    """What one of `errors()` says, in a line."""
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
    with open(inputs.opened(path), "rb") as file:
        known = os.fstat(file.fileno())
        size, stamp = known.st_size, (known.st_ino, known.st_mtime_ns, known.st_size)
        if _CHECKED.get(path) == stamp:
            return
        file.seek(max(size - 8, 0))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if size < 12 or end[4:] != b"PAR1" or length > min(size - 12, LARGEST_FOOTER):
            raise OSError("it has no Parquet footer")
        file.seek(size - 8 - length)
        footer = file.read(length)
        try:
            _bound(size, *_sizes(thrift.struct(footer, 0)[0], file.fileno()))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError):
            raise OSError("its Parquet footer is damaged") from None
    _CHECKED[path] = stamp


_CHECKED: Final[dict[Path, tuple[int, int, int]]] = {}
"""Files that were looked at: their inode, time and size."""


def _bound(size: int, rows: int, content: int) -> None:
    if rows > max(FREE_ROWS, ROWS_PER_BYTE * size):
        raise OSError(f"it claims {rows:,} rows in {size:,} bytes")
    if content > max(FREE_BYTES, BYTES_PER_BYTE * size):
        raise OSError(f"it claims {content:,} bytes in {size:,}")


def _sizes(footer: thrift.Struct, file: int) -> tuple[int, int]:
    """Rows, and bytes of all pages: as the pages themselves say it, by which readers ask for memory."""
    content = 0
    for group in footer[4]:
        for column in group[1]:
            about = column[3]
            content += _pages(file, min(about[9], about.get(11, about[9])), about[7])
    return footer[3], content


def _pages(file: int, at: int, length: int) -> int:
    content, end = 0, at + length
    while at < end:
        header, used = thrift.struct(os.pread(file, min(_HEADER, end - at), at), 0)
        if header[2] < 0 or header[3] < 0:
            raise ValueError("a page of negative size")
        content += header[2]
        at += used + header[3]
    return content


_HEADER: Final = 16 << 10
"""Bytes in which a page's header has room; its statistics are bounded by writers."""
