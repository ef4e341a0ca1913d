"""Rate that a transfer got while its packets queued, from samples."""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.fitting.capacity import Capacity
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.logs.samples import Samples
from dumbbell.fitting.trace import Bools, Floats

_BLOCK_S: Final = 0.2
_BLOCK_PACKETS: Final = 40
_BLOCK_SLACK: Final = 0.02
"""A block lasts so long, has so many packets, and its rate is known to this share, at least."""
_LEAST_S: Final = 1.0
_LEAST_BLOCKS: Final = 3
"""A queue stands for so long and so many intervals at least to tell a rate."""
_VARIES: Final = 0.05
"""Blocks whose rates differ by more than this share (median deviation) tell a rate that varies."""
_SEEN: Final = 0.85
"""Share of the time for which a rate that varies must be seen."""
_FASTER: Final = 1.08
"""If more than this passed without a queue, what delayed packets was none."""
_EDGES: Final = 0.01
"""Share of the whole that may have passed before the first sample, or is of other headers."""
_CLEARLY: Final = 1.01
"""Factor by which a rate is clearly above another."""
_BLURRED: Final = 0.15
"""Half of an interval, as a share of the value, above which the rate is not told."""
_SHARED: Final = "others may send over the bottleneck, which samples do not show"


def capacity(samples: Samples, busy: Bools, why_not: str) -> Capacity:
    """Returns the rate while packets queued. Samples never show whether others had a part of the link."""
    total_s = float(samples.end_s[-1] - samples.begin_s[0])
    late = samples.slack_bytes * samples.frame_share * 8 / total_s
    passed = max(0.0, float(samples.frames.sum()) * 8 / total_s * (1 - _EDGES) - late)
    time = samples.width_s
    busy_s = float(time[busy].sum())
    series = _series(samples, busy)
    if busy_s < _LEAST_S or busy.sum() < _LEAST_BLOCKS:
        return Capacity(unknown(_SHARED, passed), unknown(why_not, passed), False, series)
    value = float(samples.frames[busy].sum()) * 8 / busy_s
    blocks = _blocks(samples, busy)
    bps = np.array([rate for _, rate in blocks])
    evidence = f"{busy_s:.1f} s of {float(time.sum()):.1f} s with a queue"
    if len(bps) >= 4 and float(np.median(np.abs(bps / np.median(bps) - 1))) > _VARIES:
        capacity = unknown(_SHARED, passed)
        if busy_s < _SEEN * float(time.sum()):
            why = "the rate varies, and packets did not queue for all of the time: while it is high, they queue less"
            return Capacity(capacity, unknown(why, passed, None, evidence), True, series)
        error = 0.02 * value + _error(samples, busy, bps) + (1 - busy_s / float(time.sum())) * float(np.std(bps))
        return Capacity(capacity, Estimate(value, value - error, value + error, evidence), True, series)
    others = [rate for _, rate in _blocks(samples, ~busy)]
    if passed > _FASTER * value or (others and np.quantile(others, 0.9) > _FASTER * value):
        why = "more passed while the delay was low, so the delay is not that of a full queue"
        return Capacity(unknown(_SHARED, passed), unknown(why, passed, None, evidence), False, series)
    error = max(0.01 * value, _error(samples, busy, bps))
    if error > _BLURRED * value:
        why = "packets queued for too short a time to tell the rate"
        return Capacity(unknown(_SHARED, passed), unknown(why, passed, None, evidence), False, series)
    low, value = value - error, max(value, _plateau(bps, value))
    return Capacity(unknown(_SHARED, low), Estimate(value, low, value + error, evidence), False, series)


def _plateau(bps: Floats, mean: float) -> float:
    """The rate of most blocks at the top, if others are clearly lower: in these the queue was empty for a while."""
    if len(bps) < 2 * _LEAST_BLOCKS:
        return mean
    top = float(np.quantile(bps, 0.75))
    near = bps[np.abs(bps / top - 1) < _VARIES / 2]
    return float(np.median(near)) if len(near) >= len(bps) / 2 and np.median(near) > mean * _CLEARLY else mean


def _error(samples: Samples, busy: Bools, bps: Floats) -> float:
    """Half of the interval of a rate: by the spread of its blocks, and by what the file may count late."""
    spread = 2 * float(np.std(bps)) / len(bps) ** 0.5 if len(bps) > 1 else 0.0
    runs = max(1, int((busy & ~np.r_[False, busy[:-1]]).sum()))
    time = float(samples.width_s[busy].sum())
    value = float(samples.frames[busy].sum()) * 8 / time
    late = samples.slack_bytes * samples.frame_share * 8 / time + samples.slack_s / time * value
    # Runs end with longer queues than they begin with, so their errors add up.
    return float(spread + late * runs)


def _least(samples: Samples) -> tuple[float, float]:
    """Length, s, and bytes of a block at least."""
    packets = _BLOCK_PACKETS * (samples.segment_payload + samples.header_bytes)
    return max(_BLOCK_S, samples.slack_s / _BLOCK_SLACK), max(packets, samples.slack_bytes / _BLOCK_SLACK)


def _blocks(samples: Samples, chosen: Bools) -> list[tuple[float, float]]:
    """Start, s, and rate, bit/s, of each block of chosen intervals that follow each other."""
    least_s, least_bytes = _least(samples)
    found: list[tuple[float, float]] = []
    begin, passed = 0.0, 0.0
    is_open = False
    rows = zip(chosen.tolist(), samples.begin_s.tolist(), samples.end_s.tolist(), samples.frames.tolist(), strict=True)
    for use, start, end, size in rows:
        if not use:
            is_open = False
            continue
        if not is_open:
            begin, passed, is_open = start, 0.0, True
        passed += size
        if end - begin >= least_s and passed >= least_bytes:
            found.append((begin - float(samples.begin_s[0]), passed * 8 / (end - begin)))
            is_open = False
    return found


def _series(samples: Samples, busy: Bools) -> list[tuple[float, float]]:
    """The rate over time: where no queue shows it, that between its neighbours, or what passed if that was more."""
    every, queued = _blocks(samples, np.ones(len(busy), dtype=bool)), _blocks(samples, busy)
    if not queued:
        return every
    starts = [time for time, _ in every]
    between = np.interp(starts, [time for time, _ in queued], [rate for _, rate in queued])
    passed = [rate for _, rate in every]
    return list(zip(starts, np.maximum(between, passed).tolist(), strict=True))
