"""Thousands of flows: how a measure is distributed over the flows of each kind, in place of a curve per flow.

Curves of so many flows would take minutes and gigabytes, and nobody could tell one from another. Tables are read in
parts of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Final

import polars as pl

from dumbbell.analysis.sockets import idle
from dumbbell.frozen import dataclass
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Band, Group, Line, Quantity

MOST_CURVES: Final = 1_000
"""With more flows, plots show the flows' distribution."""
_INTERVALS: Final = 100
_SAMPLES: Final = 5
"""The least number of samples in an interval: with fewer, most of the time goes into intervals that nobody sees."""
_ROWS: Final = 1_000_000
"""Rows that are in memory at once."""
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Spread:
    """The distribution of a measure over the flows of each kind, in common intervals."""

    time_ns: pl.Series
    """The intervals' middles."""
    width_ns: int
    kinds: Mapping[int, pl.DataFrame]
    """Index of each kind that has values -> `median`, `low` and `high` of each interval, null without a flow."""

    @property
    def largest(self) -> float:
        """The highest value of all."""
        return max((float(kind["high"].max() or 0) for kind in self.kinds.values()), default=0.0)  # type: ignore[arg-type]

    def marks(self, groups: Sequence[Group], factor: float) -> tuple[Line | Band, ...]:
        """The band and the three curves of each kind, whose values are divided by `factor`."""
        return tuple(
            mark for index, kind in self.kinds.items() for mark in self._kind(index, groups[index].label, kind / factor)
        )

    def _kind(self, index: int, label: str, kind: pl.DataFrame) -> Iterator[Line | Band]:
        known = kind.with_columns(time_s=self.time_ns / 1e9).drop_nulls()
        yield Band(known["low"], known["high"], index, known["time_s"])
        for place, column in enumerate(("median", "low", "high")):
            yield Line(kind[column], index, name=label, quantity=place)

    @staticmethod
    def quantities(key: str) -> tuple[Quantity, ...]:
        """The curves' quantities, of a panel with that key."""
        return (
            Quantity(key, "median"),
            Quantity(f"{key}_p10", "p10", "low"),
            Quantity(f"{key}_p90", "p90", "high"),
        )

    def note(self, of: str, over: str = "flows") -> str:
        """A sentence on what is drawn of each interval: `of`, and over which of a kind's things it is distributed."""
        within = words.seconds(self.width_ns / 1e9)
        return f"{of} in each {within}: median, 10th and 90th percentile of the {over} of each kind."


@dataclass(frozen=True)
class Many:
    """The tables of a run of thousands of flows."""

    run: Run
    groups: Sequence[Group]

    @property
    def width_ns(self) -> int:
        """The length of an interval."""
        samples = _SAMPLES * self.run.plan.record.sample_interval_ns
        return round_width_ns(max(self.run.plan.duration_ns / _INTERVALS, samples))

    @property
    def intervals(self) -> int:
        """The number of intervals."""
        return ceil(self.run.plan.duration_ns / self.width_ns)

    def parts(self, table: pl.LazyFrame, time: str, n_rows: int) -> Iterator[pl.DataFrame]:
        """A table of so many rows in the order of its column `time`: whole intervals, and few enough rows at once.

        The last part also has what came after the end.
        """
        each = max(1, self.intervals * _ROWS // max(1, n_rows))
        at = pl.col(time)
        for first in range(0, self.intervals, each):
            is_last = first + each >= self.intervals
            begun = at >= first * self.width_ns
            rows = table.filter(begun if is_last else begun & (at < (first + each) * self.width_ns)).collect()
            yield rows if rows[time].is_sorted() else rows.sort(time, maintain_order=True)

    def samples(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """These columns, `time_ns`, `flow` and `socket` of connections that carried their flow's data, in parts."""
        table = self.run.scan("samples")
        keys = ["flow", "socket"]
        own = table.group_by(keys).agg(pl.col("bytes_acked").max(), n=pl.len()).collect(engine="streaming")
        left_out = idle(own, "bytes_acked")
        wanted = table.select(list(dict.fromkeys(("time_ns", *keys, *columns))))
        for rows in self.parts(wanted, "time_ns", int(own["n"].sum())):
            if left_out.is_empty():
                yield rows
            else:
                yield rows.join(left_out, on=keys, how="anti", nulls_equal=True, maintain_order="left")

    def latest(self, value: pl.Expr, combine: pl.Expr) -> Iterator[pl.DataFrame]:
        """`value` of each flow's last sample in each interval in which it was active to the end, as `v`.

        `combine` makes one value of those of a flow's connections.
        """
        for part in self.samples(value.meta.root_names()):
            # A flow's latest sample is within the last two sampling intervals, unless the flow ended before.
            late = pl.col("time_ns") % self.width_ns >= self.width_ns - 2 * self.run.plan.record.sample_interval_ns
            ended = part.filter(late).select("flow", "socket", self.slot("time_ns"), v=value.cast(pl.Float64))
            rows = ended.drop_nulls()
            last = rows.group_by("flow", "socket", "slot").agg(pl.col("v").last())
            yield last.group_by("flow", "slot").agg(combine)

    def slot(self, time: str) -> pl.Expr:
        """The number of the interval of a time, as `slot`."""
        return (pl.col(time) // self.width_ns).alias("slot")

    def spread(self, frames: Iterator[pl.DataFrame]) -> Spread | None:
        """The distribution of `v`; `None` without any value.

        Args:
            frames: tables with `flow`, `slot` and `v`. All rows of an interval are in one frame.
        """
        kind_of = _kinds(self.groups)
        v = pl.col("v")
        parts = [
            part.join(kind_of, on="flow")
            .group_by("kind", "slot")
            .agg(v.median().alias("median"), v.quantile(_LOW).alias("low"), v.quantile(_HIGH).alias("high"))
            for part in frames
        ]
        if not any(part.height for part in parts):
            return None
        by_kind = pl.concat(parts).partition_by("kind", as_dict=True, include_key=False)
        slots = pl.int_range(self.intervals, eager=True, dtype=pl.Int64).alias("slot")
        kinds = {
            index: slots.to_frame().join(by_kind[index,], on="slot", how="left").sort("slot").drop("slot")
            for index in range(len(self.groups))
            if (index,) in by_kind
        }
        return Spread(slots * self.width_ns + self.width_ns // 2, self.width_ns, kinds)


def _kinds(groups: Sequence[Group]) -> pl.DataFrame:
    """`flow` and the index of its `kind`."""
    flows = [flow for group in groups for flow in group.flows]
    index = [place for place, group in enumerate(groups) for _ in group.flows]
    return pl.DataFrame({"flow": pl.Series(flows, dtype=pl.Categorical), "kind": index})
