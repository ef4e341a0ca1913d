"""The `samples` table: of every socket, what it said at each sampling time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, Literal

import polars as pl

from dumbbell.analysis.sockets import carrying
from dumbbell.frozen import dataclass
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import Aligned
from dumbbell.report.model import Group, Line

_COLUMNS: Final = ("time_ns", "socket", "bytes_acked")
"""The columns that show which connections carried a flow's data."""


@dataclass(frozen=True)
class Samples:
    """The `samples` table, read once for all panels, and what its curves are drawn by."""

    rows: pl.DataFrame
    groups: Sequence[Group]
    interval_ns: int
    span_ns: int

    @classmethod
    def read(cls, run: Run, groups: Sequence[Group], columns: Iterable[str]) -> Samples:
        """Read these `columns`."""
        wanted = dict.fromkeys((*_COLUMNS, *sorted(columns)))
        rows = run.scan("samples").select(*wanted, flow=pl.col("flow").cast(pl.String))
        interval, span = run.plan.record.sample_interval_ns, run.plan.duration_ns
        return cls(rows.sort("time_ns").collect(), groups, interval, span)

    @property
    def flows(self) -> list[str]:
        """All flows of the plan, group by group."""
        return [flow for group in self.groups for flow in group.flows]

    def lines(self, aligned: Aligned, scale: float) -> tuple[Line, ...]:
        """A line for each flow that has values."""
        return tuple(
            Line(aligned.line(flow) * scale, index, flow)
            for index, group in enumerate(self.groups)
            for flow in group.flows
            if flow in aligned.columns
        )

    @cached_property
    def carrying(self) -> pl.DataFrame:
        """The rows of connections that carried their flow's data."""
        return carrying(self.rows, "bytes_acked")

    @cached_property
    def several(self) -> frozenset[str]:
        """Flows whose data more than one connection carried."""
        return frozenset(flow for flow, n in _sockets(self.carrying).items() if n > 1)

    @cached_property
    def left_out(self) -> frozenset[str]:
        """Flows with connections that carried almost nothing."""
        carried = _sockets(self.carrying)
        return frozenset(flow for flow, n in _sockets(self.rows).items() if n > carried[flow])

    def per_flow(self, column: str, combine: pl.Expr) -> pl.DataFrame:
        """`column` with one row per flow and time: over several sockets, `combine` of their latest values.

        Only sockets that carried the flow's data count. Sockets are sampled microseconds apart: their samples meet in
        the sampling interval.
        """
        latest = pl.col(column).cast(pl.Float64).alias("v")
        rows = self.carrying.select("time_ns", "flow", "socket", latest).drop_nulls()
        if not self.several:
            return rows.drop("socket")
        tick = (pl.col("time_ns") + self.interval_ns // 2) // self.interval_ns
        each = rows.group_by("flow", "socket", tick.alias("tick")).agg(pl.col("time_ns", "v").last())
        return each.group_by("flow", "tick").agg(pl.col("time_ns").min(), combine).drop("tick").sort("time_ns")

    def of(
        self, flow: str, column: str, combine: Literal["sum", "mean", "one"] | None, late: int
    ) -> pl.DataFrame | None:
        """`time_ns` and `column` of one flow; null where no sample came for `late` intervals. `None`: there is no
        value."""
        if combine is None or (combine == "one" and flow in self.several):
            return None
        v = pl.col("v")
        rows = self.per_flow(column, v.mean() if combine == "mean" else v.sum()).filter(pl.col("flow") == flow)
        if rows.is_empty():
            return None
        silent = rows.filter(pl.col("time_ns").diff() > late * self.interval_ns)
        ends = silent.select(pl.col("time_ns") - 1, v=pl.lit(None, pl.Float64))
        return pl.concat([rows.select("time_ns", "v"), ends]).sort("time_ns").rename({"v": column})

    def said_of_sockets(self, flows: Sequence[str], together: str) -> str:
        """A sentence on the curves of `flows` that have several sockets; it begins with a space."""
        left_out = [flow for flow in flows if flow in self.left_out]
        said = f" Flows with several sockets: their {together}." if self.several.intersection(flows) else ""
        return f"{said} Without sockets that delivered next to nothing: {words.listed(left_out)}." if left_out else said


def _sockets(rows: pl.DataFrame) -> dict[str, int]:
    """The number of sockets of each flow."""
    return dict(rows.group_by("flow").agg(pl.col("socket").n_unique()).iter_rows())
