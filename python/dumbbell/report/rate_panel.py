"""Panels of rates: how fast a counter of each flow grows, interval by interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.errors import DumbbellError
from dumbbell.report import words
from dumbbell.report.acks import Acks
from dumbbell.report.capacity import VaryingCapacity
from dumbbell.report.decimate import Aligned, round_width_ns
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Panel, Reference, View
from dumbbell.report.samples import Samples
from dumbbell.report.source import Source

_INTERVALS: Final = 200
_BASE: Final = frozenset(("time_ns", "socket"))


@dataclass(frozen=True)
class RatePanel:
    """The rate of each flow, and the capacity of the bottleneck."""

    place: int
    key: str
    """The rate in bit/s."""
    title: str
    counter: pl.Expr
    """The byte counter, of a row of `samples`."""
    note: str
    """The counted bytes of each interval: `Goodput: bytes read by the receiver's application`."""
    otherwise: tuple[pl.Expr, str] | None = None
    """Rows of another kind, and what is counted there."""
    above_capacity: str = ""
    """Why a flow can be above the capacity."""
    is_expected: bool = False
    ack_columns: frozenset[str] = frozenset()

    @property
    def sample_columns(self) -> frozenset[str]:
        """Columns of `samples` that it needs."""
        return _BASE.union(self.counter.meta.root_names())

    def start(self, source: Source) -> _Rates:
        """Begin the panel of one run."""
        return _Rates(self, source)


@dataclass(frozen=True)
class _Rates:
    of: RatePanel
    source: Source

    def add(self, acks: Acks) -> None:
        """Rates are those of samples: of all sockets, at common times."""

    def panel(self) -> Panel | None:
        """The panel of rates; `None` if no rate is known."""
        of, samples, known = self.of, self.source.samples, self.source.known
        width = max(round_width_ns(samples.span_ns / _INTERVALS), samples.interval_ns)
        found = rates(samples.rows, of.counter, width)
        if found.is_empty():
            return None
        largest = _largest(found["v"])
        frame = found.pivot(on="flow", index="time_ns", values="v", aggregate_function="first").sort("time_ns")
        note = f"{of.note} in each {words.seconds(width / 1e9)}, over its length." + self._otherwise(samples)
        capacity = None
        if (varying := self._varying()) is not None:
            middles = pl.int_range(width // 2, samples.span_ns, width, eager=True, dtype=pl.Int64).alias("time_ns")
            frame = middles.to_frame().join(frame, on="time_ns", how="left")
            capacity = varying.rates_bps(frame["time_ns"], width)
            note += " Dashed: what the bottleneck could carry, in whole frames."
        constant = float(known.bottleneck_bps) if known.bottleneck_bps and known.is_constant else None
        levels = [Reference(constant, f"capacity {words.rate(constant)}")] if constant else []
        near, far = split(levels, largest)
        tops = [largest, *(level.value for level in near), *([] if capacity is None else [_largest(capacity)])]
        factor, unit = words.rate_unit(max(tops))
        lines = samples.lines(Aligned(frame, width), 1 / factor)
        if of.above_capacity and _exceeds(frame, capacity if constant is None else constant):
            note += f" {of.above_capacity}"
        if capacity is not None:
            lines = (*lines, Line(capacity / factor, None, name="capacity", is_level=True))
        references = tuple(Reference(level.value / factor, level.label) for level in near)
        view = View("", frame["time_ns"] / 1e9, lines, note + far, references)
        return Panel(of.key, factor, of.title, unit, (view,))

    def _otherwise(self, samples: Samples) -> str:
        if self.of.otherwise is None:
            return ""
        rows, said = self.of.otherwise
        return "" if samples.rows.filter(rows).is_empty() else f" {said}"

    def _varying(self) -> VaryingCapacity | None:
        try:
            return VaryingCapacity.read(self.source.run, self.source.known)
        except DumbbellError as error:
            self.source.say(["Capacity"], error)
            return None


def rates(rows: pl.DataFrame, counter: pl.Expr, width_ns: int) -> pl.DataFrame:
    """Growth of `counter` per interval, over the time between the last samples of it and the one before, in bit/s.

    Returns `time_ns` (the interval's middle), `flow`, `v`. The first interval counts from the flow's first sample. An
    interval of which less than half was sampled, at a flow's ends, is left out: a burst in it would look like a rate.
    """
    keys = ["flow", "socket"]
    counted = rows.select("time_ns", *keys, bytes=counter.cast(pl.Float64)).drop_nulls()
    slot = (pl.col("time_ns") // width_ns).alias("slot")
    ends = counted.group_by(*keys, slot).agg(
        pl.col("time_ns", "bytes").last(), first=pl.struct("time_ns", "bytes").first()
    )
    ends = ends.sort(*keys, "slot")
    before_time = pl.col("time_ns").shift(1).over(keys).fill_null(pl.col("first").struct.field("time_ns"))
    before_bytes = pl.col("bytes").shift(1).over(keys).fill_null(pl.col("first").struct.field("bytes"))
    spans = ends.with_columns(span=pl.col("time_ns") - before_time, delta=pl.col("bytes") - before_bytes)
    found = spans.filter(pl.col("span") >= width_ns // 2).with_columns(v=pl.col("delta") * 8e9 / pl.col("span"))
    middle = pl.col("slot") * width_ns + width_ns // 2
    return found.group_by("flow", "slot").agg(pl.col("v").sum()).select(middle.alias("time_ns"), "flow", "v")


def _exceeds(found: pl.DataFrame, capacity: pl.Series | float | None) -> bool:
    """True if any flow was above the capacity at some time."""
    flows = found.drop("time_ns")
    return capacity is not None and any((flow > capacity).any() for flow in flows)


def _largest(values: pl.Series) -> float:
    largest = values.cast(pl.Float64).max()
    return float(largest) if isinstance(largest, float) else 0.0
