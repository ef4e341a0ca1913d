"""Times at which a sender looks as if it emptied the path to measure its least RTT, as BBR's PROBE_RTT does.

They are marks, never a claim: a capture shows what was in flight, not the sender's state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DEEP_PACKETS: Final = 5.0
"""BBRv1 leaves 4 packets in flight (draft-cardwell-iccrg-bbr-congestion-control-00 4.3.5), and one may leave early."""
_HALF: Final = 0.7
"""BBRv2 and v3 leave half of the BDP in flight: less than this share of what is in flight at other times."""
_LEAST_S: Final = 0.12
_MOST_S: Final = 0.7
"""PROBE_RTT lasts for 200 ms and at least a round: a dip that is shorter or longer is something else."""
_AROUND_S: Final = 1.0
"""Time before and behind a dip, whose median is what is in flight at other times."""


@dataclass(frozen=True)
class Mark:
    """A dip of what is in flight, in seconds."""

    start_s: float
    end_s: float
    is_deep: bool
    """At most `DEEP_PACKETS` were in flight, as with BBRv1; else about half, as with BBRv2 and v3."""


def marks(
    time_s: Floats, in_flight_bytes: Floats, segment_bytes: int, losses_s: Floats, is_least: bool = False
) -> list[Mark]:
    """Dips of `in_flight_bytes` that look like PROBE_RTT: entered without a loss, and left again.

    Args:
        time_s: Starts of the intervals; those without a row had no traffic.
        in_flight_bytes: Most bytes in flight of each, or the fewest.
        segment_bytes: Payload of a full packet.
        losses_s: When retransmissions were sent.
        is_least: The fewest are given: dips begin and end within intervals, and seem longer by one.
    """
    if len(time_s) < 8:
        return []
    step = float(np.median(np.diff(time_s)))
    around = max(4, round(_AROUND_S / step))
    usual = _running_median(in_flight_bytes, around)
    deep = in_flight_bytes <= DEEP_PACKETS * segment_bytes
    low = (in_flight_bytes < _HALF * usual) & (usual > 2 * DEEP_PACKETS * segment_bytes)
    found = []
    for first, last in _runs(low):
        start, end = float(time_s[first]), float(time_s[last]) + step
        is_inside = first > 0 and last + 1 < len(low)
        length = end - start - (step if is_least else 0.0)
        if not is_inside or not _LEAST_S <= length <= _MOST_S + 2 * step:
            continue
        if ((losses_s > start - 0.25) & (losses_s < end)).any():
            continue
        found.append(Mark(start, end, bool(deep[first : last + 1].mean() >= 0.4)))
    return found


def _running_median(values: Floats, around: int) -> Floats:
    """The median of `around` values before and behind each."""
    padded = np.pad(values, around, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1)
    return np.asarray(np.median(windows, axis=1), dtype=np.float64)


def _runs(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last index of each run of flags that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(first), int(behind) - 1) for first, behind in zip(edges[::2], edges[1::2], strict=True)]
