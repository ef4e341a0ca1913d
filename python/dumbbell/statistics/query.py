"""SQL by DuckDB over the tables of a study, `runs`, `flows`, `links` and `cells`, or over those of a run or an analysed
capture.

Queries cannot change anything: only one reading statement is allowed. It runs on copies of the tables that it names, in
a database in memory that may read no other file. DuckDB comes with the extra `dumbbell[query]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from dumbbell import parquet
from dumbbell.captures.capture import TABLES as CAPTURED
from dumbbell.command import extra
from dumbbell.counts import count, listed
from dumbbell.errors import Damaged, InputError
from dumbbell.frozen import dataclass
from dumbbell.records.schema import TABLES as RECORDED
from dumbbell.statistics.frames import Frames

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from dumbbell.captures import Capture
    from dumbbell.records.run import Run

Tables = Mapping[str, Callable[[], "pl.LazyFrame"]]
"""The frames behind the names that a query may use; each is made when it is needed."""
_READS: Final = ("SELECT", "EXPLAIN")


@dataclass(frozen=True)
class Answer:
    """The result of a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def of_study(study: Frames) -> Tables:
    """The tables of a study."""
    scanned = {name: partial(study.scan, name) for name in ("runs", "flows", "links")}
    return {**scanned, "cells": lambda: study.cells.lazy()}


def of_run(run: Run) -> Tables:
    """The tables that a run recorded: `flows`, `samples`, `links`, `packets` and so on."""
    return {name: partial(run.scan, name) for name in RECORDED if (run.directory / f"{name}.parquet").is_file()}


def of_capture(capture: Capture) -> Tables:
    """The tables of an analysed capture."""
    return {name: partial(capture.scan, name) for name in CAPTURED}


def query(tables: Tables, sql: str) -> Answer:
    """Run a query on tables.

    Raises:
        InputError: DuckDB is not installed; the statement is none, does more than read, or failed, with the columns
            that there are.
    """
    duckdb = _duckdb()
    with TemporaryDirectory(prefix="dumbbell-query-") as folder, duckdb.connect() as connection:
        try:
            statements = connection.extract_statements(sql)
            _check(sql, statements)
            with _tables(tables, sql, Path(folder), connection):
                found = connection.execute(statements[0])
                columns = tuple(column[0] for column in found.description or ())
                return Answer(columns, tuple(found.fetchall()))
        except duckdb.Error as error:
            raise InputError("the query failed", _first_lines(error), _columns(tables, sql)) from None


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        hint = extra("query")
        raise InputError("queries need DuckDB", "the package duckdb is not installed", hint) from None
    return duckdb


def _check(sql: str, statements: Sequence[Any]) -> None:
    if len(statements) != 1:
        what = "no query" if not statements else count(len(statements), "statement")
        raise InputError(what, "expected one", "dumbbell query STUDY 'select cell, count(*) from runs group by cell'")
    kind = statements[0].type.name
    if kind not in _READS:
        raise InputError(f"{kind.lower()}: not a query", "tables are only read", "begin with select, with or describe")


@contextmanager
def _tables(tables: Tables, sql: str, folder: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Make views of the tables whose names occur in the query; of all tables for `show tables`."""
    for name in _named(tables, sql) or tables:
        path = folder / f"{name}.parquet"
        try:
            tables[name]().sink_parquet(path)
        except parquet.errors() as error:
            raise Damaged(f"the table {name} cannot be read", parquet.why(error), "its file is damaged") from error
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{path}')")
    connection.execute(f"SET allowed_directories = ['{folder}']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    yield


def _named(tables: Tables, sql: str) -> list[str]:
    return [name for name in tables if re.search(rf"\b{name}\b", sql, re.IGNORECASE)]


def _first_lines(error: Exception) -> str:
    """DuckDB's message without its drawing of the statement."""
    said, _, _ = str(error).partition("\n\nLINE ")
    return said.strip()


def _columns(tables: Tables, sql: str) -> str:
    """`runs has run, run_id, ...`, a line per table of the query; or else the names of all tables."""
    told = []
    for name in _named(tables, sql):
        columns = tables[name]().collect_schema().names()
        told.append(f"{name} has {', '.join(_quoted(column) for column in columns)}")
    return "\n  ".join(told) or f"the tables are {listed(tables)}"


def _quoted(column: str) -> str:
    return column if re.fullmatch(r"[a-z_][a-z0-9_]*", column) and column not in ("from", "to") else f'"{column}"'
