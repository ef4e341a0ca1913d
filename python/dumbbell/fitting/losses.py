"""Losses: of a queue that overflows, which tells the buffer, and others, which come at any delay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.queue import Queue
from dumbbell.fitting.trace import Bools, Floats

FULL: Final = 0.8
"""A queue that overflows delays packets by this share of the longest delay, or more."""
_LIKELIER: Final = 4.0
"""Losses at a full queue are so many times as likely as at others, if it overflows."""
CLEAR: Final = 0.5
"""Losses apart from overflow are counted at delays below this share of the longest."""
SHARED: Final = 0.97
"""A connection that gets less than this share of the capacity while it queues has company, or the link pauses."""
_LEAST_RUNS: Final = 10
"""Fewer runs of losses tell no probability."""
_LEAST_FULL: Final = 2
_RANK_SD: Final = 0.29
"""Standard deviation of the rank of a loss by chance."""
_LEAST_RANKED: Final = 5
_EARLY_SHARE: Final = 0.2
"""Share of the losses below a full queue from which on they tell a queue discipline, if delays explain them."""


@dataclass(frozen=True)
class Losses:
    """Buffer and loss rate that the losses of a transfer show."""

    buffer: Estimate
    """Bytes of frames that wait at most, without the packet in service."""
    loss: Estimate
    """Probability per packet apart from overflow, 0 to 1."""
    burst_packets: float
    """Mean length of a run of such losses, packets."""
    overflows: int
    """Packets lost to overflow."""
    is_early: bool = False
    """True if packets were dropped as the queue grew, long before it was full: a queue discipline."""


def losses(seen: Queue, capacity: Estimate, available_bps: float | None, varies: bool, is_policed: bool) -> Losses:
    """Splits losses by the delay of the packets beside them."""
    trace = seen.trace
    total = len(trace.sent_ns)
    lost = trace.lost
    if is_policed:
        why = "a policer drops packets, and others that are lost cannot be told from these"
        return Losses(_no_buffer(seen, capacity, "no queue overflowed: a policer drops before"), unknown(why), 1.0, 0)
    at_loss, at_all = seen.at_losses(), seen.at_sending()
    known = np.isfinite(seen.above_ns)
    if not known.any():
        why = "delays are not known: the packets have no timestamps"
        return Losses(unknown(why), unknown(why, 0.0, float(lost.mean())), 1.0, 0)
    longest = float(np.quantile(seen.above_ns[known], 0.9995))
    serial = trace.segment_bytes * 8e9 / (capacity.value or 1e9)
    step = 0.0 if np.isnan(trace.resolution_ns) else trace.resolution_ns
    has_queue = longest > max(4 * serial, 2 * step)
    threshold = FULL * longest if has_queue else np.inf
    full, others = at_loss >= threshold, at_loss < threshold
    exposed = at_all < threshold
    full_share = full.sum() / max(1, int((~exposed).sum()))
    low_share = others.sum() / max(1, int(exposed.sum()))
    overflows = int(full.sum()) if full.sum() >= _LEAST_FULL and full_share > _LIKELIER * low_share else 0
    follows = has_queue and _follows_delay(seen, others, exposed)
    if follows and others.sum() > _EARLY_SHARE * max(1, len(at_loss)):
        why = "packets are dropped as the queue grows, before it is full: a queue discipline, or other traffic"
        return Losses(_no_buffer(seen, capacity, why), unknown(why, 0.0, float(low_share)), 1.0, overflows, True)
    buffer = (
        _buffer(seen, capacity, available_bps, varies, at_loss[full])
        if overflows
        else _no_buffer(seen, capacity, "no queue overflowed")
    )
    if overflows:
        # Around an overflow, losses of either kind are alike.
        clear = ~_near(seen, trace.sent_ns[lost][full]) & (at_all < CLEAR * longest)
        others, exposed = clear[lost], clear
    else:
        others, exposed = np.ones(int(lost.sum()), dtype=bool), np.ones(total, dtype=bool)
    runs, count = _runs(lost, others)
    loss = _rate(count, runs, int(exposed.sum()))
    if (follows or runs < _LEAST_RUNS) and runs:
        why = "losses apart from overflow are too few" if runs < _LEAST_RUNS else "such losses come at longer delays"
        loss = unknown(why, 0.0, loss.high, loss.evidence)
    return Losses(buffer, loss, count / max(1, runs), overflows)


def _near(seen: Queue, overflow_ns: Floats) -> Bools:
    """True for transmissions within a round trip of an overflow."""
    times = np.sort(overflow_ns)
    sent = seen.trace.sent_ns
    around = float(np.median(seen.trace.floor_ns)) if len(seen.trace.floor_ns) else 100e6
    at = np.searchsorted(times, sent)
    before = np.abs(sent - times[np.maximum(at - 1, 0)])
    after = np.abs(sent - times[np.minimum(at, len(times) - 1)])
    return np.minimum(before, after) <= around


def _no_buffer(seen: Queue, capacity: Estimate, why: str) -> Estimate:
    known = seen.above_ns[np.isfinite(seen.above_ns)]
    if capacity.value is None or not len(known):
        return unknown(why)
    return unknown(why, float(np.quantile(known, 0.9995)) * capacity.value / 8e9)


def _buffer(seen: Queue, capacity: Estimate, available_bps: float | None, varies: bool, delays: Floats) -> Estimate:
    if capacity.value is None:
        return unknown("the capacity is not known")
    if varies:
        return unknown(
            "the rate varies, so a delay tells no bytes", float(np.median(delays)) * capacity.value / 2 / 8e9
        )
    size = seen.trace.segment_bytes
    if available_bps is not None and available_bps < SHARED * capacity.value:
        middle = float(np.median(delays)) / 8e9
        why = "others send over the bottleneck, or it pauses, so a delay tells no bytes"
        return unknown(why, middle * available_bps, middle * capacity.value + 2 * size)
    full = float(np.quantile(delays, 0.75))
    value = full * capacity.value / 8e9 + size
    spread = float(np.quantile(delays, 0.9) - np.quantile(delays, 0.5)) * capacity.value / 8e9
    step = 0.0 if np.isnan(seen.trace.resolution_ns) else seen.trace.resolution_ns
    slack = max(1.5 * size, 0.04 * value, spread, 1.5 * step * capacity.value / 8e9 if step > 1e3 else 0.0)
    return Estimate(value, max(0.0, value - slack), value + slack, f"{len(delays):,} packets lost at a full queue")


def _follows_delay(seen: Queue, others: Bools, exposed: Bools) -> bool:
    """True if losses below a full queue come at longer delays than chance explains."""
    trace = seen.trace
    delays = seen.at_sending()
    of_lost = delays[trace.lost][others]
    of_all = np.sort(delays[exposed & np.isfinite(delays)])
    if len(of_lost) < _LEAST_RANKED or len(of_all) < _LEAST_RANKED:
        return False
    ranks = (np.searchsorted(of_all, of_lost, "left") + np.searchsorted(of_all, of_lost, "right")) / (2 * len(of_all))
    return bool(ranks.mean() > 0.5 + 3 * _RANK_SD / len(ranks) ** 0.5)


def _runs(lost: Bools, chosen: Bools) -> tuple[int, int]:
    """Number of runs of consecutive transmissions that were lost and are chosen, and packets in them."""
    mask = np.zeros(len(lost), dtype=bool)
    mask[np.flatnonzero(lost)[chosen]] = True
    return int((mask[1:] & ~mask[:-1]).sum() + (mask[0] if len(mask) else 0)), int(mask.sum())


def _rate(count: int, runs: int, exposed: int) -> Estimate:
    """Losses per packet with a 95 % interval of the number of runs (Garwood 1936, by Wilson and Hilferty 1931)."""
    if exposed == 0:
        return unknown("every packet met a full queue")
    evidence = f"{count:,} of {exposed:,} packets"
    if runs == 0:
        return Estimate(0.0, 0.0, 3.0 / exposed, evidence)
    low = runs * (1 - 1 / (9 * runs) - 1.96 / (3 * runs**0.5)) ** 3
    more = runs + 1
    high = more * (1 - 1 / (9 * more) + 1.96 / (3 * more**0.5)) ** 3
    mean, value = count / runs, count / exposed
    return Estimate(value, max(0.0, low) * mean / exposed, high * mean / exposed, evidence)
