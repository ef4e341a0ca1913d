"""What the panels of windows, rates and RTTs show of each flow, and the curves of one flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from dumbbell.report.model import Line, Quantity
from dumbbell.report.thin import changes, extremes

Unit = Literal["bit/s", "packets", "ms", "bytes"]
_MARKS: Final = 2000


@dataclass(frozen=True)
class Measure:
    """A column, or what follows from several, in the unit of its panel."""

    quantity: Quantity
    value: pl.Expr
    steps: bool = True
    """It holds its value until the next row; else a straight line leads there."""
    gaps: bool = False
    """Null is no value, and not an unknown one: there is no bound then."""
    events: bool = False
    """A mark for each row that has a value."""
    sampled: Literal["sum", "mean", "one"] | None = None
    """Samples tell it, too: over the sockets of a flow their sum or mean, or nothing unless there is only one."""


@dataclass(frozen=True)
class Spec:
    """A panel, free of the run."""

    key: str
    title: str
    unit: Unit
    measures: tuple[Measure, ...]
    from_zero: bool = True
    together: str = "sum"
    """What the samples of several sockets become."""
    note: str = ""
    is_noisy: bool = False
    """Few values of the first measure are far above all others, and mean little."""


def _packets_as_bytes(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64) * pl.col("snd_mss_bytes")


def _grew(counter: str) -> pl.Expr:
    """The place in the sequence where a counter grew."""
    grown = pl.col(counter).cast(pl.Int64).diff().fill_null(pl.col(counter).cast(pl.Int64)) > 0
    return pl.when(grown).then(pl.col("snd_una_bytes"))


DELIVERY_RATE: Final = Spec(
    "delivery_rate_bps",
    "Delivery rate",
    "bit/s",
    (
        Measure(Quantity("delivery_rate_bps", "rate", "pale"), pl.col("delivery_rate_bps"), sampled="sum"),
        Measure(Quantity("bbr_bw_bps", "bw"), pl.col("bbr_bw_bps"), sampled="sum"),
        Measure(Quantity("bbr_bw_lo_bps", "bw_lo", "low"), pl.col("bbr_bw_lo_bps"), gaps=True),
        Measure(Quantity("bbr_bw_hi_bps", "bw_hi", "high"), pl.col("bbr_bw_hi_bps"), gaps=True),
    ),
    is_noisy=True,
)
CWND: Final = Spec(
    "cwnd_packets",
    "Congestion window",
    "packets",
    (
        Measure(Quantity("cwnd_packets", "cwnd"), pl.col("cwnd_packets"), sampled="sum"),
        Measure(Quantity("ssthresh_packets", "ssthresh", "low"), pl.col("ssthresh_packets"), gaps=True, sampled="one"),
    ),
)
RTT: Final = Spec(
    "srtt_ms",
    "RTT",
    "ms",
    (
        Measure(Quantity("rtt_ms", "RTT", "pale"), pl.col("rtt_us") / 1e3, steps=False),
        Measure(Quantity("srtt_ms", "srtt"), pl.col("srtt_us") / 1e3, steps=False, sampled="mean"),
        Measure(Quantity("bbr_min_rtt_ms", "min_rtt", "low"), pl.col("bbr_min_rtt_us") / 1e3, sampled="one"),
    ),
    from_zero=False,
    together="mean",
)
IN_FLIGHT: Final = Spec(
    "bytes_in_flight",
    "Bytes in flight",
    "bytes",
    (
        Measure(Quantity("bytes_in_flight", "in flight"), pl.col("bytes_in_flight"), sampled="sum"),
        Measure(
            Quantity("bbr_inflight_lo_bytes", "inflight_lo", "low"),
            _packets_as_bytes("bbr_inflight_lo_packets"),
            gaps=True,
        ),
        Measure(
            Quantity("bbr_inflight_hi_bytes", "inflight_hi", "high"),
            _packets_as_bytes("bbr_inflight_hi_packets"),
            gaps=True,
        ),
    ),
)
SEQUENCE: Final = Spec(
    "snd_nxt_bytes",
    "Sequence",
    "bytes",
    (
        Measure(Quantity("snd_nxt_bytes", "snd_nxt"), pl.col("snd_nxt_bytes")),
        Measure(Quantity("snd_una_bytes", "snd_una", "low"), pl.col("snd_una_bytes")),
        Measure(Quantity("lost_at_bytes", "lost", "lost"), _grew("lost_total_packets"), events=True),
        Measure(Quantity("resent_at_bytes", "resent", "resent"), _grew("retransmitted_segments"), events=True),
    ),
    from_zero=False,
    note="Marks of loss and retransmission stand at the first byte that is not acknowledged.",
)


@dataclass(frozen=True)
class Curve:
    """A line in the panel's basic unit, and the length of the intervals that it keeps the extremes of."""

    line: Line
    width_ns: int | None


def curve(
    rows: pl.DataFrame, measure: Measure, index: int, flow: str, group: int, span_ns: int, points: int
) -> Curve | None:
    """The curve of `measure`, thinned to `points`; `None` if it never has a value.

    Args:
        rows: in the order of `time_ns`, with all columns that `measure` needs.
        measure: what to draw.
        index: its place among the panel's quantities.
        flow: the flow's name.
        group: index of its group.
        span_ns: length of the time axis.
        points: how many are allowed.
    """
    series = rows.select("time_ns", v=measure.value.cast(pl.Float64))
    if not measure.gaps:
        series = series.drop_nulls()
    time, values = series["time_ns"].to_numpy(), series["v"].fill_null(float("nan")).to_numpy()
    if len(values) == 0 or np.isnan(values).all():
        return None
    if measure.steps and not measure.events:
        kept = changes(values)
        time, values = time[kept], values[kept]
    kept, width = extremes(time, values, span_ns, min(points, _MARKS) if measure.events else points)
    line = Line(
        pl.Series(values[kept]).fill_nan(None),
        group,
        flow,
        quantity=index,
        time_s=pl.Series(time[kept] / 1e9),
        steps=measure.steps,
    )
    return Curve(line, width)
