"""Rates of a direction over time, and the queue beside them: what the bottleneck carries."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.captures.losses import Floats, Queueing
from dumbbell.captures.rows import Direction

_LEAST_INTERVALS: Final = 3
"""Intervals with a queue that tell a rate."""
_KINDS: Final = ("data", "back")


def queueing_ns(rtt: pl.DataFrame) -> float | None:
    """95th percentile of the RTT above its minimum: on the side of the capture, before or behind it, with more."""
    of_kinds = [Queueing.of(rtt, kind).above_ns for kind in _KINDS]
    return max((float(np.quantile(above, 0.95)) for above in of_kinds if len(above)), default=None)


def passed_bps(row: Direction, intervals: pl.DataFrame, width_ns: int) -> float | None:
    """Returns the rate of frames in a second at the upper quartile, bit/s: the path carries as much. None if short."""
    frames = row["frame_bytes"] / row["payload_bytes"] if row["payload_bytes"] else 1.0
    bytes_ = intervals["acknowledged_bytes"].to_numpy().astype(np.float64)
    count = max(1, round(1e9 / width_ns))
    if len(bytes_) < count:
        return None
    sums = np.convolve(bytes_, np.ones(count), mode="valid")
    return float(np.quantile(sums, 0.75)) * 8e9 * frames / (count * width_ns)


def rates_bps(row: Direction, intervals: pl.DataFrame, width_ns: int) -> Floats:
    """Rates that were acknowledged in each row of `intervals` but the first and the last, as frames, bit/s.

    It is the mean with the rows beside it, as an ACK that fills a hole tells of earlier data, too.
    """
    frames = row["frame_bytes"] / row["payload_bytes"] if row["payload_bytes"] else 1.0
    bps = intervals["acknowledged_bytes"].to_numpy().astype(np.float64) * 8e9 * frames / width_ns
    return np.convolve(bps, np.full(3, 1 / 3), mode="valid") if len(bps) >= 3 else bps[:0]


def rate_with_queue_bps(
    rates: Floats, intervals: pl.DataFrame, rtt: pl.DataFrame, least_ns: float, width_ns: int
) -> float | None:
    """Median of `rates_bps` while a queue of at least `least_ns` stood; None if it did so for too short a time."""
    queueing = max((Queueing.of(rtt, kind) for kind in _KINDS), key=lambda one: one.above_ns.max(initial=0.0))
    slots = (queueing.time_ns // width_ns).astype(np.int64)
    if len(slots) == 0 or len(rates) == 0:
        return None
    first = np.flatnonzero(np.r_[True, np.diff(slots) > 0])
    least = dict(zip(slots[first].tolist(), np.minimum.reduceat(queueing.above_ns, first).tolist(), strict=True))
    starts = intervals["start_ns"].to_numpy() // width_ns
    stood = np.array([least.get(int(slot), 0.0) >= least_ns for slot in starts])
    within = stood[:-2] & stood[1:-1] & stood[2:]
    return float(np.median(rates[within])) if within.sum() >= _LEAST_INTERVALS else None
