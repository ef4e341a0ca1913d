"""Figures of the transfer itself, which need no packets any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dumbbell.captures.diagnosis import Cause, Diagnosis
from dumbbell.fitting.queue import Queue
from dumbbell.frozen import dataclass

CAPTURE: Final = "capture"
LINK: Final = "link"
"""Side of a file that shows no end of a path, but what a link carries."""


@dataclass(frozen=True)
class Transfer:
    """A direction of a connection, as `side` saw it."""

    connection: int
    direction: str
    side: str
    """`sender`, `receiver`, `both`, or `link`."""
    seconds: float
    """Time from the first delivery to the last."""
    acknowledged_bytes: int
    """Payload."""
    goodput_bps: float
    frames_bps: float
    """Bytes of frames that were delivered, per time, bit/s."""
    segment_bytes: float
    """Frame bytes of a full packet."""
    header_bytes: float
    """Bytes of its headers."""
    sent_packets: int
    """Transmissions that were read."""
    left_out: int
    """Packets that were not read, as there were too many."""
    lost_share: float
    """Share of the transmissions that were lost, 0 to 1."""
    queue_ms: tuple[float, float]
    """Median and 99th percentile of the delay in the queue, ms."""
    cause: Cause
    """Cause by the rules of the capture's analysis."""
    shares: Mapping[str, float]
    """Share of the time for which window, application, send buffer, recovery or network limited the sender."""
    source: str = CAPTURE
    """Kind of file that the transfer was read from, in words: `capture`, `log of ss`, ..."""
    cc: str | None = None
    """Congestion control, if the file names one that dumbbell knows."""

    @property
    def is_link(self) -> bool:
        """True if the file has a link's rate over time, and no transfer."""
        return self.side == LINK


def transfer(seen: Queue, diagnosis: Diagnosis) -> Transfer:
    """The figures of a transfer."""
    trace, limits = seen.trace, diagnosis.seen.limits_ns
    total = max(1, sum(limits.values()))
    known = seen.above_ns[np.isfinite(seen.above_ns)] / 1e6
    return Transfer(
        trace.row["connection"],
        trace.row["direction"],
        trace.side,
        trace.span_s,
        int(trace.row["acknowledged_bytes"] or 1),
        float(trace.row["goodput_bps"] or 0),
        float(trace.bytes.sum()) * 8 / max(trace.span_s, 1e-9),
        trace.segment_bytes,
        trace.frame_bytes,
        len(trace.sent_ns),
        trace.left_out,
        float(trace.lost.mean()),
        (float(np.median(known)), float(np.quantile(known, 0.99))) if len(known) else (0.0, 0.0),
        diagnosis.cause,
        {name: time / total for name, time in limits.items()},
    )
