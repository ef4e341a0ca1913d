"""Buffer and losses, from samples."""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.logs.samples import Samples
from dumbbell.fitting.losses import Losses
from dumbbell.fitting.trace import Floats

_LEAST_PEAKS: Final = 2
"""Overflows that agree, without which nothing tells the buffer."""
_ALIKE: Final = 0.12
"""Queues at overflows differ by this share of their median at most."""
_NEVER_LONGER: Final = 1.1
"""A queue that was longer than at overflows, by this factor, did not overflow there."""
_SLACK: Final = 0.05
"""Share of the queue at overflows by which the least may be too long."""
SHARED: Final = "others may have a part of it, which samples do not show"
_GARWOOD: Final = 1.96


def losses(samples: Samples, above: Floats, available: Estimate, base: Estimate) -> Losses:
    """Splits packets that were sent again, as far as samples tell."""
    again = samples.again_packets
    if not np.isfinite(again).any():
        why = f"the {samples.source} does not count lost packets"
        return Losses(_least(samples, above, available, why), unknown(why), 1.0, 0)
    count, sent = float(np.nansum(again)), float((samples.payload_bytes / samples.segment_payload).sum())
    total = sent + count
    evidence = f"{count:,.0f} of {total:,.0f} packets sent again"
    high = _upper(count) / total
    if count == 0:
        buffer = _least(samples, above, available, "no queue overflowed")
        return Losses(buffer, Estimate(0.0, 0.0, high, evidence), 1.0, 0)
    why = f"the {samples.source} does not tell losses of a full queue from others"
    buffer, overflows = _buffer(samples, above, available, base)
    return Losses(buffer, unknown(why, 0.0, high, evidence), 1.0, overflows)


def _least(samples: Samples, above: Floats, available: Estimate, why: str) -> Estimate:
    """The buffer where nothing overflows: it holds at least what waited."""
    if available.low is None or not available.is_identifiable or not np.isfinite(above).any():
        return unknown(why)
    return unknown(why, max(0.0, float(np.nanmax(above)) * available.low / 8e9 - samples.segment_payload))


def _buffer(samples: Samples, above: Floats, available: Estimate, base: Estimate) -> tuple[Estimate, int]:
    """Returns a lower bound of the buffer, by the round trips around losses, and how often it overflowed.

    A queue grows until it overflows, and a sample misses the last part of that. Others may fill a part of the buffer.
    """
    if not available.is_identifiable:
        return unknown("the rate while packets queued is not known"), 0
    if not base.is_identifiable:
        return _least(samples, above, available, "the base RTT is not known, so a part of the queue may be hidden"), 0
    filled = np.maximum(np.nan_to_num(above), 0.0) * (available.value or 0.0) / 8e9
    peaks = _peaks(samples, filled)
    if len(peaks) < _LEAST_PEAKS:
        return _least(samples, above, available, f"the queue overflowed {len(peaks)} times, which is too few"), 0
    frame = samples.segment_payload + samples.header_bytes
    middle, highest = float(np.median(peaks)), float(peaks.max())
    spread = float(np.quantile(peaks, 0.9) - np.quantile(peaks, 0.1))
    if spread > max(3 * frame, _ALIKE * middle) or filled.max() > max(_NEVER_LONGER * highest, highest + 3 * frame):
        return _least(samples, above, available, "losses come at queues of different lengths"), 0
    least = max(0.0, middle - max(2 * frame, _SLACK * middle))
    return unknown(f"it overflowed, and {SHARED}", least, None, f"{len(peaks)} overflows"), len(peaks)


def _peaks(samples: Samples, filled: Floats) -> Floats:
    """Bytes in the queue at each overflow."""
    lossy = np.nan_to_num(samples.again_packets) > 0
    starts = np.flatnonzero(lossy & ~np.r_[False, lossy[:-1]])
    return np.array([float(filled[at - 1 : at + 2].max()) for at in starts.tolist() if at >= 1])


def _upper(count: float) -> float:
    """The upper end of the 95 % interval of a count (Garwood 1936, by Wilson and Hilferty 1931)."""
    more = count + 1
    return float(more * (1 - 1 / (9 * more) + _GARWOOD / (3 * more**0.5)) ** 3)
