"""The rate that a link really delivered, while it had packets to deliver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from dumbbell.analysis.metrics import SECOND_NS, serialisation_ns, wire_bytes

SHORTEST_WINDOW_NS = 100_000_000
"""Shorter busy windows are left out: the lateness of their two ends would weigh more than the rate."""


def achieved_rate_bps(packets: pl.LazyFrame, link: Mapping[str, Any]) -> float | None:
    """Bits that `link` delivered in its busy windows, over the real time that this took.

    A busy window is a series of packets that left the serializer back to back. The real time of a departure is the
    scheduled one plus the lateness with which the packet was handed over at the end of its path, so an emulator that
    falls behind shows here, whatever its virtual clock says. The first packet of a window marks its start and does not
    count. `None` if the link was never busy for long enough.
    """
    lateness = (
        packets.filter(pl.col("sent_ns").is_not_null())
        .select("packet", lateness=pl.col("sent_ns") - pl.col("delivery_ns"))
        .unique("packet", keep="any")
    )
    gap = pl.col("departure_ns").diff()
    windows = (
        packets.filter((pl.col("link") == link["name"]) & pl.col("departure_ns").is_not_null())
        .select("packet", "departure_ns", "size_bytes")
        .join(lateness, on="packet", how="left")
        .sort("departure_ns")
        .with_columns(
            # 2 ns: both departures are rounded to whole nanoseconds.
            window=(gap.is_null() | (gap > serialisation_ns(link) + 2)).cum_sum(),
            bits=(8 * wire_bytes(link)).cum_sum(),
            real=pl.col("departure_ns") + pl.col("lateness"),
        )
        .filter(pl.col("real").is_not_null())
        .group_by("window")
        .agg(
            bits=pl.col("bits").last() - pl.col("bits").first(),
            span=pl.col("real").last() - pl.col("real").first(),
        )
    )
    return _rate(windows)


def _rate(windows: pl.LazyFrame) -> float | None:
    bits, span = (
        windows.filter(pl.col("span") >= SHORTEST_WINDOW_NS).select(pl.col("bits", "span").sum()).collect().row(0)
    )
    return float(bits * SECOND_NS / span) if span else None
