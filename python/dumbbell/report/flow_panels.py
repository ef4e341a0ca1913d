"""Panels with a curve per flow, from the `samples` table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import polars as pl

from dumbbell.analysis.history import is_steady
from dumbbell.analysis.sockets import carrying
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.capacity import VaryingCapacity
from dumbbell.report.decimate import Aligned, align, round_width_ns
from dumbbell.report.facts import Facts
from dumbbell.report.levels import split
from dumbbell.report.model import Group, Line, Panel, Reference, View

_INTERVALS = 200
_COLUMNS = (
    *("time_ns", "socket", "cwnd_packets", "ssthresh_packets", "srtt_us", "bytes_in_flight", "delivery_rate_bps"),
    *("retransmitted_segments", "bytes_acked", "received_bytes", "bbr_bw_bps", "bbr_min_rtt_us", "snd_mss_bytes"),
)


@dataclass(frozen=True)
class Samples:
    """The `samples` table, read once for all panels, and what its curves are drawn by."""

    rows: pl.DataFrame
    groups: Sequence[Group]
    interval_ns: int
    span_ns: int

    @classmethod
    def read(cls, run: Run, groups: Sequence[Group]) -> Samples:
        """Read what the panels need."""
        rows = run.scan("samples").select(*_COLUMNS, flow=pl.col("flow").cast(pl.String))
        interval, span = run.plan["record"]["sample_interval_ns"], run.plan["duration_ns"]
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
            if flow in aligned.frame.columns
        )

    @cached_property
    def carrying(self) -> pl.DataFrame:
        """The rows of connections that carried their flow's data."""
        return carrying(self.rows.lazy(), "bytes_acked").collect()

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

        Those count that carried the flow's data. They are sampled microseconds apart, so they meet in the sampling
        interval.
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
        """`time_ns` and `column` of one flow; null where no sample came for `late` intervals. `None`: no value."""
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
        """What the curves of `flows` are, as far as those have several sockets; begins with a space."""
        left_out = [flow for flow in flows if flow in self.left_out]
        said = f" Flows with several sockets: their {together}." if self.several.intersection(flows) else ""
        return f"{said} Without sockets that delivered next to nothing: {words.listed(left_out)}." if left_out else said


def _sockets(rows: pl.DataFrame) -> dict[str, int]:
    """How many each flow has."""
    return dict(rows.group_by("flow").agg(pl.col("socket").n_unique()).iter_rows())


def of_samples(samples: Samples, known: Facts) -> list[Panel]:
    """cwnd, RTT and bytes in flight of many flows; a panel without any value is left out."""
    drawn = [_cwnd(samples), _rtt(samples, known), _in_flight(samples, known)]
    return [panel for panel in drawn if panel is not None]


def goodput_panel(samples: Samples, known: Facts, varying: VaryingCapacity | None) -> Panel | None:
    """Goodput of each flow, and the capacity; `None` if nothing is known of it."""
    width = max(round_width_ns(samples.span_ns / _INTERVALS), samples.interval_ns)
    rates = goodput(samples.rows, width)
    if rates.is_empty():
        return None
    largest = _largest(rates["v"])
    frame = rates.pivot(on="flow", index="time_ns", values="v", aggregate_function="first").sort("time_ns")
    note = f"Goodput: bytes read by the receiver's application in each {words.seconds(width / 1e9)}, over its length."
    acked = samples.rows.filter(pl.col("received_bytes").is_null() & pl.col("bytes_acked").is_not_null())
    if not acked.is_empty():
        note += " Where the receiver is a program of its own: bytes acknowledged."
    capacity = None
    if varying is not None:
        middles = pl.int_range(width // 2, samples.span_ns, width, eager=True, dtype=pl.Int64).alias("time_ns")
        frame = middles.to_frame().join(frame, on="time_ns", how="left")
        capacity = varying.rates_bps(frame["time_ns"], width)
        note += " Dashed: what the bottleneck could carry, in whole frames."
    constant = float(known.bottleneck["rate_bps"]) if known.bottleneck and known.is_constant else None
    levels = [Reference(constant, f"capacity {words.rate(constant)}")] if constant else []
    near, far = split(levels, largest)
    tops = [largest, *(level.value for level in near), *([] if capacity is None else [_largest(capacity)])]
    factor, unit = words.rate_unit(max(tops))
    lines = samples.lines(Aligned(frame, width), 1 / factor)
    if _exceeds(frame, capacity if constant is None else constant):
        note += " Above capacity: a repaired loss has released what waited behind it."
    if capacity is not None:
        lines = (*lines, Line(capacity / factor, None, name="capacity", is_level=True))
    references = tuple(Reference(level.value / factor, level.label) for level in near)
    view = View("", frame["time_ns"] / 1e9, lines, note + far, references)
    return Panel("goodput_bps", factor, "Goodput", unit, (view,))


def _exceeds(rates: pl.DataFrame, capacity: pl.Series | float | None) -> bool:
    """Whether any flow was above it at a time."""
    flows = rates.drop("time_ns")
    return capacity is not None and any((flow > capacity).any() for flow in flows)


def goodput(rows: pl.DataFrame, width_ns: int) -> pl.DataFrame:
    """Bytes delivered per interval, over the time between the last samples of it and the one before, in bit/s.

    Returns `time_ns` (the interval's middle), `flow`, `v`. The first interval counts from the flow's first sample. An
    interval of which less than half was sampled, at a flow's ends, is left out: a burst in it would look like a rate.
    """
    keys = ["flow", "socket"]
    counter = rows.select(
        "time_ns", *keys, bytes=pl.coalesce("received_bytes", "bytes_acked").cast(pl.Float64)
    ).drop_nulls()
    slot = (pl.col("time_ns") // width_ns).alias("slot")
    ends = counter.group_by(*keys, slot).agg(
        pl.col("time_ns", "bytes").last(), first=pl.struct("time_ns", "bytes").first()
    )
    ends = ends.sort(*keys, "slot")
    before_time = pl.col("time_ns").shift(1).over(keys).fill_null(pl.col("first").struct.field("time_ns"))
    before_bytes = pl.col("bytes").shift(1).over(keys).fill_null(pl.col("first").struct.field("bytes"))
    spans = ends.with_columns(span=pl.col("time_ns") - before_time, delta=pl.col("bytes") - before_bytes)
    rates = spans.filter(pl.col("span") >= width_ns // 2).with_columns(v=pl.col("delta") * 8e9 / pl.col("span"))
    middle = pl.col("slot") * width_ns + width_ns // 2
    return rates.group_by("flow", "slot").agg(pl.col("v").sum()).select(middle.alias("time_ns"), "flow", "v")


def levels_of(key: str, known: Facts) -> list[Reference]:
    """What the curves of a panel are read against, in the panel's basic unit."""
    bdp, link = known.bdp_bytes, known.bottleneck
    if key == "delivery_rate_bps" and link is not None and known.is_constant:
        return [Reference(float(link["rate_bps"]), f"capacity {words.rate(link['rate_bps'])}")]
    if key == "srtt_ms":
        return [Reference(rtt * 1e3, f"base {words.seconds(rtt)}") for rtt in known.base_rtts_s[:4]]
    if key == "bytes_in_flight" and bdp:
        return [Reference(bdp, f"{_of_which_rate(known)}BDP {words.size(bdp)}")]
    return []


def _cwnd(samples: Samples) -> Panel | None:
    view = _sampled(samples, "cwnd_packets", 1.0, "sum")
    return None if view is None else Panel("cwnd_packets", 1.0, "Congestion window", "packets", (view,))


def _rtt(samples: Samples, known: Facts) -> Panel | None:
    view = _sampled(samples, "srtt_us", 1e-3, "mean", "Smoothed RTT (srtt). ", levels_of("srtt_ms", known))
    return None if view is None else Panel("srtt_ms", 1.0, "RTT", "ms", (view,), from_zero=False)


def _in_flight(samples: Samples, known: Facts) -> Panel | None:
    factor, unit = words.size_unit(_largest(samples.rows["bytes_in_flight"]))
    references = [replace(level, value=level.value / factor) for level in levels_of("bytes_in_flight", known)]
    view = _sampled(samples, "bytes_in_flight", 1 / factor, "sum", references=references)
    return None if view is None else Panel("bytes_in_flight", factor, "Bytes in flight", unit, (view,))


def _of_which_rate(known: Facts) -> str:
    if known.bottleneck is None or is_steady(known.histories[known.bottleneck["name"]]):
        return ""
    return "mean " if known.bottleneck["variation"] else "initial "


def _sampled(
    samples: Samples,
    column: str,
    scale: float,
    combine: Literal["sum", "mean"],
    said_first: str = "",
    references: Sequence[Reference] = (),
) -> View | None:
    rows = samples.per_flow(column, pl.col("v").sum() if combine == "sum" else pl.col("v").mean())
    if rows.is_empty():
        return None
    aligned = align(rows, "v", samples.flows, samples.interval_ns, samples.span_ns)
    note = f"{said_first}Drawn from {words.count(rows.height, 'sample')}"
    if aligned.width_ns is None:
        note += f", one per flow every {words.seconds(samples.interval_ns / 1e9)}."
    else:
        note += f": min and max of each {words.seconds(aligned.width_ns / 1e9)}."
    note += samples.said_of_sockets(samples.flows, combine)
    near, far = split(references, _largest(rows["v"]) * scale)
    return View("", aligned.frame["time_ns"] / 1e9, samples.lines(aligned, scale), note + far, near)


def _largest(values: pl.Series) -> float:
    largest = values.cast(pl.Float64).max()
    return float(largest) if isinstance(largest, float) else 0.0
