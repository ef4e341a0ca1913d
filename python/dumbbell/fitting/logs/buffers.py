"""Buffer and losses, from samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.losses import Losses
from dumbbell.fitting.trace import Floats

if TYPE_CHECKING:
    from dumbbell.fitting.logs.samples import Samples

_LEAST_PEAKS: Final = 2
"""Overflows that agree, without which nothing tells the buffer."""
_ALIKE: Final = 0.12
"""Queues at overflows differ by this share of their median at most."""
_NEVER_LONGER: Final = 1.1
"""A queue that was longer than at overflows, by this factor, did not overflow there."""
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
        return Losses(
            _least(samples, above, available, "no queue overflowed"), Estimate(0.0, 0.0, high, evidence), 1, 0
        )
    why = f"the {samples.source} does not tell losses of a full queue from others"
    return Losses(_buffer(samples, above, available, base), unknown(why, 0.0, high, evidence), 1.0, 0)


def _least(samples: Samples, above: Floats, available: Estimate, why: str) -> Estimate:
    """The buffer where nothing overflows: it holds at least what waited."""
    if available.low is None or not available.is_identifiable or not np.isfinite(above).any():
        return unknown(why)
    return unknown(why, max(0.0, float(np.nanmax(above)) * available.low / 8e9 - samples.segment_payload))


def _buffer(samples: Samples, above: Floats, available: Estimate, base: Estimate) -> Estimate:
    """The buffer, by the longest round trips around losses.

    A queue grows until it overflows, and a sample misses the last part of that.
    """
    if not available.is_identifiable:
        return unknown("the rate while packets queued is not known")
    if not base.is_identifiable:
        return _least(samples, above, available, "the base RTT is not known, so a part of the queue may be hidden")
    value_bps = available.value or 0.0
    filled = np.maximum(np.nan_to_num(above), 0.0) * value_bps / 8e9
    peaks, growth = _peaks(samples, filled)
    if len(peaks) < _LEAST_PEAKS:
        return _least(samples, above, available, f"the queue overflowed {len(peaks)} times, which is too few")
    frame = samples.segment_payload + samples.header_bytes
    middle, highest = float(np.median(peaks)), float(peaks.max())
    spread = float(np.quantile(peaks, 0.9) - np.quantile(peaks, 0.1))
    if spread > max(3 * frame, _ALIKE * middle) or filled.max() > max(_NEVER_LONGER * highest, highest + 3 * frame):
        return _least(samples, above, available, "losses come at queues of different lengths")
    beyond = float(np.median(growth))
    value = highest + beyond / 2
    slack = max(2 * frame, 0.05 * value)
    evidence = f"{len(peaks)} overflows"
    return Estimate(value, max(0.0, middle - slack), highest + beyond + slack, evidence)


def _peaks(samples: Samples, filled: Floats) -> tuple[Floats, Floats]:
    """Bytes in the queue at each overflow, and by how much it grew in the interval before."""
    lossy = np.nan_to_num(samples.again_packets) > 0
    starts = np.flatnonzero(lossy & ~np.r_[False, lossy[:-1]])
    peaks, growth = [], []
    for at in starts.tolist():
        if at < 2:
            continue
        near = filled[at - 1 : at + 2]
        peaks.append(float(near.max()))
        growth.append(max(0.0, float(filled[at - 1] - filled[at - 2])))
    return np.array(peaks), np.array(growth)


def _upper(count: float) -> float:
    """The upper end of the 95 % interval of a count (Garwood 1936, by Wilson and Hilferty 1931)."""
    more = count + 1
    return float(more * (1 - 1 / (9 * more) + _GARWOOD / (3 * more**0.5)) ** 3)
