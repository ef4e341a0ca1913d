"""The results of a study, as frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import parquet
from dumbbell.command import command
from dumbbell.counts import count
from dumbbell.errors import Damaged, InputError
from dumbbell.records.directory import RUNS, name_hint
from dumbbell.records.files import is_locked
from dumbbell.scenario.source import show
from dumbbell.studies import entries, model, shards
from dumbbell.studies.cells import keys
from dumbbell.studies.directory import COMPLETE, INCOMPLETE, KILLED, LOCK, MANIFEST, RUNNING, STUDIES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from dumbbell.pipeline.results import Run
    from dumbbell.statistics.factorial import Term


class Study:
    """A study's directory.

    Every frame has a column for each varied key, beside `run`, `run_id`, `cell`, `repetition` and `seed`, and is in the
    order of `run`. `docs/reference/records.md` gives the meanings of the columns.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Open the study; one that was interrupted has its finished runs.

        Raises:
            InputError: there is no study.
            DumbbellError: its manifest is damaged.
        """
        self.directory = Path(directory)
        if not (self.directory / MANIFEST).exists():
            raise InputError(
                f"no study at {self.directory}",
                f"the directory has no {MANIFEST}",
                name_hint(self.directory.name, STUDIES),
            )
        self.manifest: Mapping[str, Any] = model.manifest(self.directory)

    def __repr__(self) -> str:
        """The directory, and how many runs are done."""
        done = self.runs.height if self.has_runs else 0
        return f"Study({str(self.directory)!r}, {done} of {count(self.manifest['runs'], 'run')})"

    @property
    def keys(self) -> list[str]:
        """The keys that were varied; `case` among them if cells have names."""
        return keys(self.manifest["cells"])

    @property
    def has_runs(self) -> bool:
        """True if any run is finished."""
        return bool(shards.folders(self.directory)) or bool(self._refused)

    @property
    def has_usable_runs(self) -> bool:
        """True if any run is usable."""
        from dumbbell.statistics.frames import usable

        return self.has_runs and not usable(self).is_empty()

    @property
    def state(self) -> str:
        """The state, one of the five in `dumbbell.studies.directory`."""
        said = str(self.manifest["status"])
        if said == COMPLETE and self.missing:
            return INCOMPLETE
        if said == RUNNING and not is_locked(self.directory / LOCK):
            return KILLED
        return said

    @property
    def missing(self) -> int:
        """Number of runs that were asked for and have neither figures nor a reason why there are none."""
        wanted = int(self.manifest["runs"])
        found: set[int] = shards.finished(self.directory) | {row["run"] for row in self._refused}
        return wanted - sum(number < wanted for number in found)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """A row per cell: `cell` and the values of the varied keys; null where a case leaves one out."""
        import polars as pl

        rows = self.manifest["cells"]
        columns = {key: _column([row.get(key) for row in rows]) for key in self.keys}
        return pl.DataFrame({"cell": pl.Series(range(len(rows)), dtype=pl.UInt32), **columns})

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row per run: `error` (null if it can be used), `verdict`, `reasons`, Jain's index, packets."""
        return self._read("runs")

    @cached_property
    def copies(self) -> Mapping[int, Sequence[int]]:
        """Cell whose repetitions are all equal -> the numbers of its runs but the first."""
        from dumbbell.statistics.frames import equal_runs

        return equal_runs(self)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row per usable run and flow: goodput, RTT, retransmissions, completion time."""
        return self._read("flows")

    @cached_property
    def links(self) -> pl.DataFrame:
        """A row per usable run and link that can delay, drop or change packets: utilisation, drops, queueing delay."""
        return self._read("links")

    @cached_property
    def summary(self) -> pl.DataFrame:
        """A row per cell: means over its runs, the number of runs (`runs`), and of unusable ones.

        Goodput and retransmissions are of all flows together, from the first start to the last stop; the RTT is their
        mean; utilisation, drops and queueing delay are of the study's main link (`statistics.frames.main_link`).
        """
        import polars as pl

        from dumbbell.statistics.frames import main_link

        means = pl.col("jain_index").mean(), pl.len().alias("runs"), pl.col("error").is_not_null().sum().alias("failed")
        # Flows are active at different times: the sum of their goodputs could exceed the link's rate.
        lasted_s = pl.col("stop_s").max() - pl.col("start_s").min()
        flows = self.flows.group_by("cell", "run").agg(
            (8 * pl.col("received_bytes").sum() / lasted_s).alias("goodput_bps"),
            pl.col("retransmitted_segments").sum(),
            pl.col("rtt_p50_ms").mean(),
        )
        of_bottleneck = pl.col("utilisation", "drops", "queue_p50_ms", "queue_p95_ms").mean()
        return (
            self.cells.join(self.runs.group_by("cell").agg(means), on="cell")
            .join(flows.group_by("cell").agg(pl.exclude("run").mean()), on="cell", how="left")
            .join(self.links.filter(link=main_link(self)).group_by("cell").agg(of_bottleneck), on="cell", how="left")
            .sort("cell")
        )

    def open(self, number: int) -> Run:
        """An emulated run with all its records, by its number in `runs`.

        Raises:
            InputError: it is not on disk. `dumbbell run STUDY --cell ...` repeats a simulated run.
        """
        from dumbbell.pipeline.results import Run

        found = self.runs.filter(run=number)
        if found.is_empty():
            raise InputError(f"no run {number} in {self.directory}", f"finished: {count(self.runs.height, 'run')}")
        path = self.directory / RUNS / f"{self.manifest['name']}-{found['run_id'].item()}"
        if not path.exists():
            again = ["--cell", str(found["cell"].item()), "--repetition", str(found["repetition"].item())]
            raise InputError(
                f"run {number} of {self.directory} has no records",
                "of simulated runs only the figures are kept",
                command("run", str(self.directory / "scenario.toml"), "--engine", self.manifest["engine"], *again),
            )
        return Run(path)

    def over_time(self, format: str, again: bool = True) -> bytes | None:
        """The figure that `columns` of the file's `[report]` asks for, as PNG, PDF, SVG or CSV; `None` without it.

        Simulated runs that have no records are carried out again, if `again`. Raises `InputError`.
        """
        from dumbbell.report import overlay
        from dumbbell.report.overlay.columns import drawn_cells
        from dumbbell.report.study import described_in
        from dumbbell.studies.single import first_runs

        columns = described_in(self).columns
        if columns is None:
            return None
        asked, cells = drawn_cells(self, columns)
        return overlay.content(first_runs(self, cells, again), format, overlay.OF_COLUMNS, columns=asked.key)

    def report(self) -> Path:
        """Write the HTML report of the finished runs. Returns its path.

        Raises:
            InputError: no run can be used.
        """
        from dumbbell.report.study import write

        return write(self, "html", over_time=self.over_time)[0]

    def plot(self, metric: str = "goodput", **described: Any) -> Figure:
        """A metric in all cells, as a matplotlib figure, which a notebook shows.

        `described`: keys of `[[report.plots]]`, such as `kind="boxes"`, `across="buffer"`, `curves="algorithm"`.

        Raises:
            InputError: no metric of this name has values, or no run can be used, or the study lacks what is described.
        """
        from dumbbell.report.study import figure

        return figure(self, metric, **described)

    def effects(
        self, metric: str = "goodput", *, logarithm: bool = False, confidence: float = 0.95, most: int = 2
    ) -> list[Term]:
        """Effects and interactions of the varied keys on a metric: which matters, the largest share first.

        Args:
            metric: of the whole run, or of the bottleneck.
            logarithm: takes its natural logarithm, so that effects are factors: exp(0.69) is twice.
            most: the number of keys that may interact.

        Raises:
            InputError: a key's values were not all run with those of the others, or a value has no logarithm.
        """
        from dumbbell.studies.factors import effects_of

        return effects_of(self, self.manifest["cells"], metric, logarithm, confidence, most)

    def _repr_html_(self) -> str:
        """The study's progress and verdicts, and a row per cell, for a notebook."""
        from html import escape

        from dumbbell.statistics.verdicts import verdicts

        judged = f", {verdicts(self.runs)}" if self.has_runs else ""
        told = f"{self.manifest['name']}: {self.state}{judged}"
        said = f"<p><b>{escape(told)}</b> ({escape(repr(self))})</p>"
        return said + (self.summary._repr_html_() if self.has_usable_runs else "")

    def scan(self, table: str) -> pl.LazyFrame:
        """`runs`, `flows` or `links` as a lazy frame.

        Raises:
            InputError: there is no such table, or no run is finished yet.
        """
        import polars as pl

        if table not in shards.TABLES:
            raise InputError(f"no table {table!r}", f"the tables are {', '.join(shards.TABLES)}")
        if not self.has_runs:
            raise InputError(f"no runs in {self.directory}", "none is finished", "run the study again: it continues")
        runs = self._runs()
        rows = runs
        if table != "runs":
            runs = runs.select("run", "cell", "repetition", "seed")
            rows = _once(shards.scan(self.directory, table), *_ROWS[table]).sort("run", maintain_order=True)
            rows = rows.join(runs, on="run", how="inner", maintain_order="left")
        if table == "flows":
            rows = entries.joined(self.directory, rows)
        rows = rows.join(self.cells.lazy(), on="cell", how="left", maintain_order="left")
        first = ["run", "run_id", "cell", "repetition", "seed", *self.keys]
        return rows.select(*first, pl.exclude(first))

    def _read(self, table: str) -> pl.DataFrame:
        try:
            return self.scan(table).collect()
        except parquet.errors() as error:
            # Damage among the rows shows when they are read.
            if not shards.damaged(self.directory, whole=True):
                said = f"the figures of {self.directory} cannot be read"
                raise Damaged(said, parquet.why(error), "repeat the study's command") from error
            return self.scan(table).collect()

    def _runs(self) -> pl.LazyFrame:
        """Runs that the latest command asked for, including those given up; there may be more on disk."""
        import polars as pl

        return self.accounted().filter(pl.col("repetition") < self.manifest["repetitions"])

    def accounted(self) -> pl.LazyFrame:
        """A row per run on disk, and per run that was given up, in the order of `run`."""
        import polars as pl

        rows = _once(shards.scan(self.directory, "runs"), "run")
        if self._refused:
            schema = rows.collect_schema()
            given_up = pl.LazyFrame(self._refused).cast({key: schema[key] for key in self._refused[0]})
            # A killed command may have left a run among both.
            given_up = _once(given_up, "run").join(rows, on="run", how="anti")
            rows = pl.concat([rows, given_up], how="diagonal")
        return rows.sort("run", maintain_order=True)

    @property
    def _refused(self) -> list[dict[str, Any]]:
        """Runs that were given up, as rows of `runs`."""
        return shards.refused(self.directory)


def _column(values: list[Any]) -> list[Any]:
    """The values unchanged if polars can hold them in a column, or else as TOML texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or kinds in ({str}, {bool}):
        return values
    return [value if isinstance(value, str | None) else show(value) for value in values]


_ROWS: Final = {"flows": ("run", "id"), "links": ("run", "link")}
"""Columns that tell the rows of a table apart."""


def _once(rows: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """The first of rows with equal keys. A stranger's small file may repeat a row without end, and joins multiply."""
    return rows.unique(keys, keep="first", maintain_order=True)
