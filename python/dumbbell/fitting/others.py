"""Rate of others at the bottleneck over time: what it served less what this connection got, while a queue stood."""

from __future__ import annotations

from dataclasses import field
from typing import Final

import numpy as np

from dumbbell.fitting.capacity import Capacity, block_ns, busy_gaps, rough_bps
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.losses import SHARED, Losses
from dumbbell.fitting.queue import Queue
from dumbbell.frozen import dataclass

_QUEUED: Final = 0.5
"""Share of a window at least for which a queue stood, so that the window tells what others sent."""
_LEAST_WINDOWS: Final = 4
"""Fewer windows tell no mean."""
_LEAST_BPS: Final = 1.0
"""Less than this is the rounding of sums."""
_EDGES: Final = 2.0
"""Packets by which the borders of a window may be wrong."""
NOT_SEEN: Final = "packets hardly queued, and only a queue shows what others send"


@dataclass(frozen=True)
class Others:
    """Traffic of others through the bottleneck."""

    rate: Estimate
    """Mean rate of frames while a queue stood, bit/s."""
    series: list[tuple[float, float, float, float]] = field(default_factory=list)
    """Windows in which a queue stood: start in s since the capture's first segment, rate and its interval, bit/s."""
    window_s: float = 0.0
    """Length of a window, s."""


def others(seen: Queue, rate: Capacity, losses: Losses, is_policed: bool) -> Others:
    """Returns what others sent in each window in which a queue stood.

    The queue holds packets of others, too, so nothing that they sent is missing while it stands. Of a rate that varies,
    or a link that pauses, the rest is not what others send.
    """
    capacity = rate.capacity
    if capacity.value is None or capacity.low is None or capacity.high is None or rate.varies:
        return Others(unknown("the rate varies" if rate.varies else "the capacity is not known"))
    if is_policed:
        return Others(unknown("a policer keeps this connection below the capacity"))
    trace = seen.trace
    gaps, sizes = np.diff(trace.time_ns), trace.bytes[1:]
    is_busy = busy_gaps(seen, capacity.value, seen.stood_ns)
    width = block_ns(trace, rough_bps(trace))
    slots = ((trace.time_ns[1:] - trace.time_ns[0]) / width).astype(np.int64)
    queued_ns = np.bincount(slots, weights=np.where(is_busy, gaps, 0.0))
    through = np.bincount(slots, weights=np.where(is_busy, sizes, 0.0))
    (at,) = np.nonzero(queued_ns >= _QUEUED * width)
    if len(at) < _LEAST_WINDOWS:
        return Others(unknown(NOT_SEEN))
    own = through[at] * 8e9 / queued_ns[at]
    error = _EDGES * trace.segment_bytes * 8e9 / queued_ns[at]
    rest, low, high = (
        np.maximum(0.0, of - own) for of in (capacity.value, capacity.low - error, capacity.high + error)
    )
    total = float(queued_ns[at].sum())
    means = [float((of * queued_ns[at]).sum() / total) for of in (rest, low, high)]
    mean, least, most = (0.0 if of < _LEAST_BPS else of for of in means)
    if mean < (1 - SHARED) * capacity.value:
        # A bottleneck without others is seen to serve a little less than its capacity, too.
        least = 0.0
    evidence = f"{len(at)} windows of {width / 1e6:.0f} ms with a queue"
    served = float(through[at].sum()) * 8e9 / total
    if served < SHARED * capacity.value and not (losses.buffer.is_identifiable and not losses.is_own):
        return Others(unknown("others send, or the link pauses: losses do not tell which", 0.0, most, evidence))
    columns = ((trace.time_ns[0] + at * width) / 1e9, rest, low, high)
    windows = [tuple(row) for row in np.stack(columns, axis=1).tolist()]
    return Others(Estimate(mean, least, most, evidence), windows, width / 1e9)
