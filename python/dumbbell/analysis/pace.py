"""Compares the rate of a link while it had packets to send with the rate of its plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.analysis.capacity import Capacity
from dumbbell.plan.network import History
from dumbbell.plan.types import Link

SHORTEST_WINDOW_NS = 100_000_000
"""Shorter busy windows are left out: the lateness of their two ends would weigh more than the rate."""


@dataclass(frozen=True)
class Pace:
    """The rate of a link according to its departures."""

    achieved: float | None
    """Share of the configured rate that it reached while it was busy; `None` if it never was for long enough."""
    excess_packets: float
    """The most that it sent beyond its capacity in any time, in packets of the largest size."""


def lateness(packets: pl.LazyFrame) -> pl.LazyFrame:
    """`packet` and its `lateness` in ns: how long after it was due it was handed over at the end of its path."""
    late = (pl.col("sent_ns") - pl.col("delivery_ns")).min()
    # A copy has the number of its original, and leaves right behind it.
    return packets.filter(pl.col("sent_ns").is_not_null()).group_by("packet").agg(lateness=late)


def measure(packets: pl.LazyFrame, name: str, history: History, late: pl.LazyFrame) -> Pace:
    """The pace of link `name`, which has a rate at all times; `late` is the `lateness` of the packets.

        achieved = (sent / capacity) * (planned time / real time), over all busy windows

    A busy window is a series of departures each of which was waiting when the one before it left, so it holds for any
    rate and discipline; a link with slots may idle while packets wait, and has none. Capacity is what the plan allows
    within the window. The real time of a departure is the scheduled one plus the lateness with which the packet was
    handed over at the end of its path, so an emulator that falls behind shows here, whatever its virtual clock says.
    The first packet of a window marks its start and does not count. Excess is looked for in every time between two
    departures, of whatever link.
    """
    rows = _departures(packets, name, history, late)
    if rows.is_empty():
        return Pace(None, 0.0)
    departure = rows["departure_ns"].to_numpy()
    size = rows["bytes"].to_numpy()
    sent = np.cumsum(size)
    capacity = Capacity(history, int(departure[-1]))
    before, until = capacity.before(departure), capacity.until(departure)
    excess = (sent - until) - np.minimum.accumulate(sent - before)
    slotted = any(link.slots is not None for _, link in history)
    achieved = None if slotted else _achieved(rows, sent, before, until)
    return Pace(achieved, max(0.0, float(excess.max() / size.max())))


def _departures(packets: pl.LazyFrame, name: str, history: History, late: pl.LazyFrame) -> pl.DataFrame:
    return (
        packets.filter((pl.col("link") == name) & pl.col("departure_ns").is_not_null())
        .select("packet", "arrival_ns", "departure_ns", bytes=_wire_bytes(history[0][1]))
        .join(late, on="packet", how="left")
        .sort("departure_ns", maintain_order=True)
        .select("arrival_ns", "departure_ns", "bytes", real=pl.col("departure_ns") + pl.col("lateness"))
        .collect()
    )


def _wire_bytes(link: Link) -> pl.Expr:
    """Bytes that a row of `packets` counts on `link`: its frame and the link's overhead."""
    return pl.col("size_bytes").cast(pl.Int64) + link.overhead_bytes


def _achieved(
    rows: pl.DataFrame, sent: npt.NDArray[np.int64], before: npt.NDArray[np.float64], until: npt.NDArray[np.float64]
) -> float | None:
    idle = pl.col("arrival_ns") >= pl.col("departure_ns").shift(1)
    windows = (
        rows.select("departure_ns", "real", window=idle.fill_null(value=True).cum_sum())
        .with_columns(sent=sent, before=before, until=until)
        .filter(pl.col("real").is_not_null())
        .group_by("window")
        .agg(
            sent=_span("sent"),
            # Opportunities at the two ends may belong to the window or not.
            least=pl.col("before").last() - pl.col("until").first(),
            most=pl.col("until").last() - pl.col("before").first(),
            planned=_span("departure_ns"),
            real=_span("real"),
        )
        .filter(pl.col("real") >= SHORTEST_WINDOW_NS)
        .with_columns(possible=pl.col("sent").clip("least", "most"))
        .select(pl.col("sent", "possible", "planned", "real").sum())
    )
    sent_bytes, possible, planned, real = windows.row(0)
    return float(sent_bytes / possible * planned / real) if real and possible else None


def _span(column: str) -> pl.Expr:
    return pl.col(column).last() - pl.col(column).first()
