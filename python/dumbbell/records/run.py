"""Open a run directory and read what was measured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell import documents, inputs, parquet
from dumbbell.command import command
from dumbbell.engines.registry import DEFAULT, option
from dumbbell.errors import Damaged, InputError
from dumbbell.plan.types import Plan
from dumbbell.records import files, model, references
from dumbbell.records.directory import PARTIAL
from dumbbell.records.plan import read_plan
from dumbbell.records.schema import SCHEMA, TABLES, polars_schema

if TYPE_CHECKING:
    import polars as pl


class Run:
    """One run on disk. Tables are read when they are first asked for.

    Attributes:
        directory: where it lies.
        manifest: what was run, when and on what machine.
        plan: the expanded run, every default filled in.
    """

    def __init__(self, directory: str | os.PathLike[str], incomplete: bool = False, plan: Plan | None = None) -> None:
        """Open `directory`.

        Args:
            directory: a run directory, e.g. `runs/bbr-vs-cubic-1f2e3d4c`.
            incomplete: also open a run that failed or was interrupted; it may lack tables and a summary.
            plan: what its `plan.json` holds, if that is known: reading a large one takes seconds.

        Raises:
            InputError: there is no run, it did not complete, or another version of dumbbell wrote it.
        """
        self.directory = Path(directory)
        if not self.directory.is_dir():
            raise InputError(f"no run at {self.directory}", "there is no such directory", "ls runs")
        if not (self.directory / model.MANIFEST).exists():
            raise InputError(
                f"no run at {self.directory}", "the directory has no manifest.json", "name a run in this directory"
            )
        try:
            inputs.check_files(self.directory)
        except OSError as error:
            hint = "a run has only regular files: remove the others"
            raise InputError(f"no run at {self.directory}", error.strerror or str(error), hint) from None
        self.manifest: Mapping[str, Any] = model.manifest(self.directory)
        self._check(incomplete)
        self.plan = plan or read_plan(self.directory / "plan.json")
        self._checked: dict[str, parquet.Stamp] = {}

    def _check(self, incomplete: bool) -> None:
        schema, status = self.manifest.get("schema"), self.manifest.get("status")
        if schema is not None and schema != SCHEMA:
            raise InputError(
                f"cannot read the run at {self.directory}",
                f"it has layout {schema}, and this version of dumbbell reads layout {SCHEMA}",
                f"use dumbbell {(self.manifest.get('tool') or {}).get('dumbbell') or 'of the version that wrote it'}",
            )
        if status == "complete" or incomplete:
            return
        if self.directory.name.startswith(PARTIAL):
            why = "it is still being written, or the command that wrote it was killed"
        else:
            why = f"it is {status or 'of unknown state'}: {self.manifest.get('reason') or 'no reason is recorded'}"
        raise InputError(
            f"the run at {self.directory} did not complete",
            why,
            f"dumbbell.open({str(self.directory)!r}, incomplete=True) reads its measurements until then",
        )

    def __repr__(self) -> str:
        """The directory and the verdict."""
        verdict = self.summary.get("verdict") if (self.directory / "summary.json").exists() else "no verdict"
        return f"Run({str(self.directory)!r}, {verdict})"

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """Verdict, figures per flow and link, Jain's index: the content of `summary.json`."""
        found = model.summary(self.directory)
        if why := references.of_summary(found, self.plan):
            raise Damaged(f"{self.directory / model.SUMMARY} cannot be read", why, model.AGAIN)
        return found

    @cached_property
    def scenario_text(self) -> str:
        """The scenario as TOML, overrides applied, comments and all. Raises `InputError` if it cannot be read."""
        try:
            return inputs.read_own(self.directory, "scenario.toml", documents.LARGEST)
        except OSError as error:
            raise InputError(f"cannot read {self.directory}/scenario.toml", error.strerror or str(error)) from None

    @property
    def repeat(self) -> str:
        """The command that repeats this run, from the scenario that it keeps, on the same engine."""
        return command("run", str(self.directory / "scenario.toml"), *option(self.engine))

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.plan.name

    @property
    def run_id(self) -> str:
        """Hash of all that determines the run."""
        return str(self.manifest.get("run_id", ""))

    @property
    def engine(self) -> str:
        """`emulate` or `simulate`."""
        return str(self.manifest.get("engine", DEFAULT))

    @property
    def verdict(self) -> str:
        """`valid`, `suspect` or `invalid`; `summary["reasons"]` says why."""
        return str(self.summary["verdict"])

    @cached_property
    def samples(self) -> pl.DataFrame:
        """A row per flow, socket and sampling interval: cwnd, RTT, bytes delivered, ..."""
        return self._read("samples")

    @cached_property
    def packets(self) -> pl.DataFrame | None:
        """A row per packet and link; `None` if the scenario says not to record packets."""
        return self._read("packets") if self.has("packets") else None

    @cached_property
    def acks(self) -> pl.DataFrame | None:
        """A row per acknowledgement that a sender took; `None` if they were not recorded."""
        return self._read("acks") if self.has("acks") else None

    @cached_property
    def pings(self) -> pl.DataFrame | None:
        """A row per echo request; `None` if no flow pings."""
        return self._read("pings") if self.has("pings") else None

    @cached_property
    def requests(self) -> pl.DataFrame | None:
        """A row per request of RPCs; `None` if no flow makes any."""
        return self._read("requests") if self.has("requests") else None

    @cached_property
    def routes(self) -> pl.DataFrame | None:
        """A row per change of a router's routes; `None` if no router has routing daemons."""
        return self._read("routes") if self.has("routes") else None

    @cached_property
    def links(self) -> pl.DataFrame:
        """A row per link and sampling interval: bytes, packets, drops, queue."""
        return self._read("links")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row per flow: goodput, RTT, retransmissions, completion time."""
        return self._read("flows")

    def _read(self, table: str) -> pl.DataFrame:
        try:
            return self.scan(table).collect()
        except parquet.errors() as error:
            raise self.unreadable(error) from error

    def unreadable(self, error: BaseException) -> Damaged:
        """An error for what polars said of this run's tables (`parquet.errors`), with the file that is damaged."""
        for path in sorted(self.directory.glob("*.parquet")):
            if why := files.unreadable(path, whole=True):
                return Damaged(f"{path} cannot be read", why, "the file is damaged; repeat the run")
        return Damaged(f"the tables of {self.directory} cannot be read", parquet.why(error), "repeat the run")

    def has(self, table: str) -> bool:
        """True if `table` was recorded."""
        return self._path(table).exists()

    def scan(self, table: str) -> pl.LazyFrame:
        """`table` as a lazy frame, for tables larger than memory; `TABLES` has the names.

        Figures of flows that an earlier version did not compute are null.

        Raises:
            InputError: there is no such table.
            DumbbellError: it was not recorded, or lacks columns of `docs/reference/records.md`.
        """
        import polars as pl

        if table not in TABLES:
            raise InputError(f"no table {table!r}", f"the tables are {', '.join(TABLES)}")
        path = self._path(table)
        if not path.exists():
            hint = f"set record.{table} = true in the scenario" if table in ("packets", "acks") else ""
            raise Damaged(f"{path} is missing", "the run did not record it", hint)
        try:
            frame, stamp = parquet.scan_stamped(path)
            schema = frame.collect_schema()
        except parquet.errors() as error:
            why = parquet.why(error)
            raise Damaged(f"{path} cannot be read", why, "the run was cut short; repeat it") from error
        missing = TABLES[table].keys() - schema.names()
        for column, kind in polars_schema(table).items():
            if column in schema and not _is_like(schema[column], kind):
                why = f"its column {column} is {schema[column]}, and not {kind}"
                raise Damaged(f"{path} cannot be read", why, "another program wrote it; repeat the run")
        if self._checked.get(table) != stamp:
            self._check_names(table, frame)
            self._checked[table] = stamp
        if table == "flows" and "id" not in missing:
            kinds = polars_schema(table)
            given = frame.with_columns(pl.lit(None, kinds[column]).alias(column) for column in missing)
            return given.select(*kinds, pl.exclude(*kinds)) if missing else frame
        if missing:
            raise Damaged(f"{path} cannot be read", f"it lacks the columns {', '.join(sorted(missing))}")
        return frame

    def _check_names(self, table: str, frame: pl.LazyFrame) -> None:
        try:
            why = references.of_table(table, frame, self.plan)
        except parquet.errors() as error:
            raise self.unreadable(error) from error
        if why:
            raise Damaged(f"{self._path(table)} cannot be read", why, "it belongs to another run; repeat this one")

    def _path(self, table: str) -> Path:
        return self.directory / f"{table}.parquet"


def _is_like(data_type: pl.DataType, declared: pl.DataType) -> bool:
    """True if a column of one type can stand for the other: text for text, numbers for numbers."""
    import polars as pl

    text = (pl.String, pl.Categorical, pl.Enum)
    if declared in text:
        return data_type in text
    return data_type == declared or (data_type.is_numeric() and declared.is_numeric())
