"""Capacity of the bottleneck: the rate at which it served packets, and how that varied."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Final

import numpy as np

from dumbbell.fitting.batches import without_batches
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.queue import Queue, queue
from dumbbell.fitting.trace import Bools, Floats, Trace
from dumbbell.frozen import dataclass

_BIN: Final = 0.005
"""Width of the bins of rates, as a share."""
_SMOOTH: Final = 3
"""Bins that are averaged on each side."""
_NEAR: Final = 0.06
"""Rates within this share of a mode belong to it."""
_MASS: Final = 0.04
"""Share of the data that a mode has at least."""
_HEIGHT: Final = 0.05
"""Height of a mode at least, as a share of the highest one's."""
_PROMINENCE: Final = 0.4
"""Share of its height by which a mode stands above the valley beside it: less is noise."""
_TOGETHER: Final = 4
"""Deliveries that are taken together where a mode is not sharp,"""
_SHARP: Final = 0.02
"""which is a standard deviation within it below this share."""
_SEEN: Final = 0.92
"""Share of the time for which a rate that varies must be seen."""
_LEAST: Final = 20
"""Deliveries of a mode or block at least."""
_CLOCK: Final = 0.1
"""Step of a capture's clock, as a share of a packet's time at the bottleneck, beyond which gaps tell no rate."""
_BLOCK_PACKETS: Final = 40
_BLOCK_NS: Final = 200e6
"""A block has so many packets and lasts so long at least."""
_SAME: Final = 0.025
"""Rates that differ by less are equal."""
_VARIES: Final = 0.05
"""Blocks whose modes differ by more than this share (median deviation) tell a rate that varies."""


@dataclass(frozen=True)
class Capacity:
    """Rate of the bottleneck."""

    capacity: Estimate
    """Rate of frames while it serves, bit/s; of a varying rate, its mean over time."""
    available: Estimate
    """Rate that this connection got while its packets queued, bit/s: less than the capacity if others send, or if the
    link pauses."""
    varies: bool = False
    series: list[tuple[float, float]] = field(default_factory=list)
    """Start of a block, s, and the rate in it, bit/s, where packets queued."""


def rough_bps(trace: Trace) -> float:
    """A rate near the bottleneck's: what was delivered in a window of 20 deliveries, at the 90th percentile."""
    width = min(20, max(1, len(trace.time_ns) - 1))
    total = np.cumsum(trace.bytes)
    time = trace.time_ns[width:] - trace.time_ns[:-width]
    if not len(time) or not (time > 0).any():
        return 1e6
    return float(np.quantile(((total[width:] - total[:-width])[time > 0]) * 8e9 / time[time > 0], 0.9))


def capacity(trace: Trace, rough: float) -> tuple[Capacity, Queue]:
    """Returns the rate of the bottleneck, and the queue before it."""
    seen = queue(trace, rough)
    gaps = np.diff(trace.time_ns)
    sizes = trace.bytes[1:]
    busy = busy_gaps(seen, rough, seen.filled_ns)
    blocks = _blocks(trace, busy, sizes, gaps, rough)
    lower = float(np.sum(trace.bytes[1:]) * 8 / max(trace.span_s, 1e-9))
    served = float(gaps[busy].sum())
    available = unknown("packets hardly ever queued", lower)
    if served > 0 and busy.sum() >= _LEAST:
        value = float(sizes[busy].sum()) * 8e9 / served
        low, high = _around(value, [rate for _, rate, _ in blocks])
        evidence = f"{int(trace.packets[1:][busy].sum()):,} packets in {served / 1e9:.1f} s with a queue"
        available = Estimate(value, low, high, evidence)
    rates = np.array([rate for _, rate, _ in blocks])
    if len(rates) >= 4 and _varies(blocks):
        series = _filled([(time, rate) for time, rate, _ in blocks], trace, block_ns(trace, rough))
        mean = float(np.mean([bps for _, bps in series]))
        evidence = f"{len(rates)} blocks of {block_ns(trace, rough) / 1e6:.0f} ms with a queue"
        share = len(rates) * block_ns(trace, rough) / max(1.0, trace.span_s * 1e9)
        if share < _SEEN:
            return Capacity(
                unknown(
                    "the rate varies, and packets did not queue for all of the time: while it is high, they queue less",
                    lower,
                    None,
                    evidence,
                ),
                available,
                True,
                series,
            ), seen
        # Rates between blocks are not seen.
        error = max(0.02 * mean, max(0.0, 1 - share) * float(np.std(rates)) + 0.015 * mean)
        return Capacity(Estimate(mean, mean - error, mean + error, evidence), available, True, series), seen
    plateau = _plateau(rates)
    if trace.clock_ns > _CLOCK * trace.segment_bytes * 8e9 / rough:
        return Capacity(_by_plateau(plateau, trace.clock_ns, available, lower), available), seen
    gaps, sizes, is_batched = without_batches(trace.time_ns, trace.bytes)
    fastest = _fastest(sizes, gaps, plateau)
    if fastest is None:
        why = "no rate stands out at which packets came back to back, so others may send between them"
        return Capacity(unknown(why, available.low if available.low is not None else lower), available), seen
    mode, count, spread = fastest
    width = max(0.015, 1.5 * spread)
    value = mode
    if plateau is not None and plateau > mode * (1 + _SAME):
        # What queued was served faster: packets that the sender paced came in the mode.
        return Capacity(replace(available, value=plateau, low=0.99 * plateau, high=1.01 * plateau), available), seen
    if plateau is not None and abs(plateau / mode - 1) < max(_SAME, 0.5 * spread):
        value, width = plateau, max(0.005, abs(plateau / mode - 1) / 2)
    evidence = f"{count:,} {'batches of ' if is_batched else ''}deliveries back to back"
    return Capacity(Estimate(value, value * (1 - width), value * (1 + width), evidence), available), seen


def _by_plateau(plateau: float | None, clock_ns: float, available: Estimate, lower: float) -> Estimate:
    """The capacity where the capture's clock is too coarse for gaps between packets."""
    if plateau is None:
        why = f"the capture's times have steps of {clock_ns / 1e6:g} ms, and packets hardly queued"
        return unknown(why, available.low if available.low is not None else lower)
    return replace(available, value=plateau, low=0.99 * plateau, high=1.01 * plateau)


def busy_gaps(seen: Queue, rough: float, waited: Floats) -> Bools:
    """True for intervals between deliveries in which the bottleneck never idled.

    Args:
        seen: The queue.
        rough: A rate near the bottleneck's, bit/s.
        waited: Time before each delivery for which the queue stood, ns: since before the delivery before it, or longer.
    """
    trace = seen.trace
    step = 0.0 if np.isnan(trace.resolution_ns) else trace.resolution_ns
    serial = trace.segment_bytes * 8e9 / rough
    gaps = np.diff(trace.time_ns)
    margin = serial * np.maximum(1.0, trace.packets[1:] - 1) + step
    return (gaps + margin <= waited[1:]) & (waited[:-1] > step)


def _fastest(sizes: Floats, gaps: Floats, plateau: float | None) -> tuple[float, int, float] | None:
    """The mode of single deliveries; where hosts blur it, that of some at a time, if `plateau` says the same."""
    found = _mode(sizes, gaps, np.ones(len(gaps), dtype=bool))
    if plateau is None or (found is not None and found[2] < _SHARP):
        return found
    count = len(gaps) // _TOGETHER * _TOGETHER
    sums = [of[:count].reshape(-1, _TOGETHER).sum(axis=1) for of in (sizes, gaps)]
    together = _mode(sums[0], sums[1], np.ones(len(sums[0]), dtype=bool))
    return together if together is not None and abs(together[0] / plateau - 1) < _SAME else found


def _mode(sizes: Floats, gaps: Floats, use: Bools) -> tuple[float, int, float] | None:
    """The highest rate at which many deliveries followed each other, bit/s; their number; and the spread, a share."""
    use = use & (gaps > 0)
    if use.sum() < _LEAST:
        return None
    sizes, gaps = sizes[use], gaps[use]
    logs = np.log(sizes * 8e9 / gaps)
    low = float(np.quantile(logs, 0.01))
    bins = ((logs - low) / _BIN).astype(np.int64)
    bins = np.clip(bins, 0, min(int(bins.max()), 4000))
    counts = np.bincount(bins, weights=sizes).astype(np.float64)
    kernel = np.hanning(2 * _SMOOTH + 3)[1:-1]
    smooth = np.convolve(counts, kernel / kernel.sum(), mode="same")
    padded = np.r_[0.0, smooth, 0.0]
    for top, prominence in reversed(peaks(padded, _HEIGHT * float(smooth.max()))):
        if prominence < _PROMINENCE * padded[top]:
            continue
        centre = low + (top - 0.5) * _BIN
        near = np.abs(logs - centre) <= _NEAR
        if near.sum() < _LEAST or sizes[near].sum() < _MASS * sizes.sum():
            continue
        rate = float(sizes[near].sum() * 8e9 / gaps[near].sum())
        return rate, int(near.sum()), float(np.std(logs[near]))
    return None


def peaks(values: Floats, least: float) -> list[tuple[int, float]]:
    """Peaks of at least that height, in order: the middle of each, and its height above the higher of its valleys.

    A valley reaches to a higher value or to the border. `scipy.signal.find_peaks` returns the same, but its import
    takes longer than many a fit.
    """
    (steps,) = np.nonzero(np.diff(values))
    is_rise = values[steps + 1] > values[steps]
    (at,) = np.nonzero(is_rise[:-1] & ~is_rise[1:])
    found: list[tuple[int, float]] = []
    for top in ((steps[at] + 1 + steps[at + 1]) // 2).tolist():
        if values[top] < least:
            continue
        (higher,) = np.nonzero(values > values[top])
        right = int(np.searchsorted(higher, top))
        first = int(higher[right - 1]) if right else 0
        last = int(higher[right]) if right < len(higher) else len(values)
        valley = max(values[first : top + 1].min(), values[top:last].min())
        found.append((top, float(values[top] - valley)))
    return found


def block_ns(trace: Trace, rough: float) -> float:
    """Length of a block of time, ns, at a rough rate of the bottleneck."""
    return max(_BLOCK_NS, _BLOCK_PACKETS * trace.segment_bytes * 8e9 / rough)


def _blocks(
    trace: Trace, busy: Bools, sizes: Floats, gaps: Floats, rough: float
) -> list[tuple[float, float, float | None]]:
    """Start, s, of each block that was busy for half of its time, the rate while it was, and its mode, bit/s."""
    width = block_ns(trace, rough)
    slots = ((trace.time_ns[1:] - trace.time_ns[0]) / width).astype(np.int64)
    edges = np.flatnonzero(np.r_[True, np.diff(slots) > 0, True]) if len(slots) else np.zeros(0, dtype=np.int64)
    found: list[tuple[float, float, float | None]] = []
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        use = busy[first:last]
        time = float(gaps[first:last][use].sum())
        if use.sum() < _LEAST // 2 or time < 0.5 * width:
            continue
        mode = _mode(sizes[first:last], gaps[first:last], use)
        rate = float(sizes[first:last][use].sum()) * 8e9 / time
        found.append((float(slots[first]) * width / 1e9, rate, None if mode is None else mode[0]))
    return found


def _varies(blocks: list[tuple[float, float, float | None]]) -> bool:
    """True if the rate at which packets follow each other differs from block to block, and blocks are even inside."""
    both = np.array([(rate, mode) for _, rate, mode in blocks if mode is not None])
    if len(both) < 4:
        return False
    rates, modes = both[:, 0], both[:, 1]
    differ = [float(np.median(np.abs(of / np.median(of) - 1))) for of in (rates, modes)]
    return min(differ) > _VARIES and float(np.median(rates / modes)) > 0.8


def _plateau(rates: Floats) -> float | None:
    """The rate of most blocks at the top: the median of those near the upper quartile."""
    if len(rates) < 3:
        return None
    top = float(np.quantile(rates, 0.75))
    near = rates[np.abs(rates / top - 1) < _SAME]
    return float(np.median(near)) if len(near) else None


def _around(value: float, rates: list[float]) -> tuple[float, float]:
    error = 2 * float(np.std(rates)) / len(rates) ** 0.5 if len(rates) > 1 else 0.05 * value
    error = max(error, 0.005 * value)
    return value - error, value + error


def _filled(series: list[tuple[float, float]], trace: Trace, width_ns: float) -> list[tuple[float, float]]:
    """A rate for each block of the whole time: where no queue shows it, that between its neighbours, or what passed."""
    width = width_ns / 1e9
    count = max(1, int(trace.span_s / width))
    starts = width * np.arange(count)
    slots = np.minimum(((trace.time_ns - trace.time_ns[0]) / width_ns).astype(np.int64), count)
    passed = np.bincount(slots, weights=trace.bytes, minlength=count)[:count] * 8 / width
    between = np.interp(starts, [time for time, _ in series], [bps for _, bps in series])
    is_seen = np.isin(np.round(starts / width), np.round([time / width for time, _ in series]))
    return list(zip(starts.tolist(), np.where(is_seen, between, np.maximum(between, passed)).tolist(), strict=True))
