"""Losses: of a queue that overflows, which tells the buffer, and others, which come at any delay."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.queue import Queue
from dumbbell.fitting.trace import Bools, Floats
from dumbbell.frozen import dataclass

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
_SHORT: Final = 15
"""Packets in a buffer, below which a burst that overflows it looks like loss at a short queue."""
_LEAST_FULL: Final = 2
_RANK_SD: Final = 0.29
"""Standard deviation of the rank of a loss by chance."""
_LEAST_RANKED: Final = 5
_CLOSE: Final = 2.0
"""Measures whose spreads differ by less than this factor are alike."""
_SAME: Final = 0.05
"""Bytes in a buffer that overflows differ by this share at most, or by"""
_SAME_PACKETS: Final = 3
"""so many packets. A queue discipline, or others that send in bursts, make them differ more."""
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
    is_own: bool = False
    """True if losses tell a queue by this connection's own bytes, not by a delay: the rate varies, or the link
    pauses."""


@dataclass(frozen=True)
class _Filling:
    """How full the queue was, bytes, by one of two measures: delay times capacity, or this connection's own bytes."""

    values: Floats
    """Bytes at each delivery; NaN if they are not known."""
    at_losses: Floats
    at_sending: Floats
    is_own: bool
    """True if it is this connection's own bytes."""
    least: float = np.inf
    """Bytes in a full queue by the other measure, if losses hardly tell which of the two is right."""

    @property
    def longest(self) -> float:
        """Usual largest value."""
        return float(np.quantile(self.values[np.isfinite(self.values)], 0.9995))

    @property
    def full(self) -> Bools:
        """True for losses at a full queue."""
        return self.at_losses >= FULL * self.longest

    @property
    def spread(self) -> float:
        """Difference of usual values at a full queue, as a share of their median; infinite if there are too few."""
        full = self.at_losses[self.full]
        if len(full) < _LEAST_FULL:
            return np.inf
        low, middle, high = np.quantile(full, [0.1, 0.5, 0.9])
        return float((high - low) / middle)


def losses(seen: Queue, capacity: Estimate, available_bps: float | None, varies: bool, is_policed: bool) -> Losses:
    """Splits losses by how full the queue was for the packets beside them."""
    trace = seen.trace
    total = len(trace.sent_ns)
    lost = trace.lost
    if is_policed:
        why = "a policer drops packets, and others that are lost cannot be told from these"
        return Losses(_no_buffer(seen, capacity, "no queue overflowed: a policer drops before"), unknown(why), 1.0, 0)
    if not np.isfinite(seen.above_ns).any():
        why = "delays are not known: the packets have no timestamps"
        return Losses(unknown(why), unknown(why, 0.0, float(lost.mean())), 1.0, 0)
    rate = capacity.value or available_bps or 1e9
    is_shared = capacity.value is not None and available_bps is not None and available_bps < SHARED * capacity.value
    filling = _filling(seen, rate, varies, is_shared)
    longest = filling.longest
    step = _step_bytes(seen, rate)
    has_queue = longest > max(4 * trace.segment_bytes, 2 * step)
    threshold = FULL * longest if has_queue else np.inf
    at_loss, at_all = filling.at_losses, filling.at_sending
    full, others = at_loss >= threshold, at_loss < threshold
    exposed = at_all < threshold
    full_share = full.sum() / max(1, int((~exposed).sum()))
    low_share = others.sum() / max(1, int(exposed.sum()))
    overflows = int(full.sum()) if full.sum() >= _LEAST_FULL and full_share > _LIKELIER * low_share else 0
    follows = has_queue and _follows_delay(filling, lost, others, exposed)
    if follows and others.sum() > _EARLY_SHARE * max(1, len(at_loss)):
        why = "packets are dropped as the queue grows, before it is full: a queue discipline, or other traffic"
        early = Losses(_no_buffer(seen, capacity, why), unknown(why, 0.0, float(low_share)), 1.0, overflows, True)
        return replace(early, is_own=filling.is_own)
    buffer = (
        _buffer(filling, capacity, is_shared, trace.segment_bytes, step)
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
    is_short = bool(overflows) and longest < _SHORT * trace.segment_bytes
    if (follows or is_short or runs < _LEAST_RUNS) and runs:
        why = "losses apart from overflow are too few" if runs < _LEAST_RUNS else "such losses come at longer delays"
        if is_short:
            why = "the buffer is so short that a burst fills it between two packets whose delays are known"
        loss = unknown(why, 0.0 if follows or is_short else loss.low, loss.high, loss.evidence)
    if trace.is_blind and runs:
        why = "no SACK block tells which packets were lost: some were sent again without need"
        loss = unknown(why, 0.0, loss.high, loss.evidence)
    return Losses(buffer, loss, count / max(1, runs), overflows, is_own=filling.is_own)


def without_base(losses: Losses, why: str) -> Losses:
    """The losses where the base RTT is not known: delays then are those beyond an unknown queue."""
    if losses.is_own or not losses.buffer.is_identifiable:
        return losses
    return replace(losses, buffer=unknown(why, losses.buffer.low))


def _filling(seen: Queue, rate_bps: float, varies: bool, is_shared: bool) -> _Filling:
    """The measure that tells the queue.

    If only the rate varies, own bytes fill the buffer. If others send, the delay tells all bytes. A connection that
    gets less than the capacity has either company, or a link that pauses: losses find the same value of the right one.
    """
    delay, own = (
        _Filling(values, seen.at_losses(values), seen.at_sending(values), is_own)
        for values, is_own in ((seen.above_ns * rate_bps / 8e9, False), (seen.backlog_bytes, True))
    )
    if varies:
        return own
    if not is_shared:
        return delay
    if own.spread < delay.spread:
        return own
    is_close = np.isfinite(own.spread) and own.spread < _CLOSE * delay.spread
    return replace(delay, least=float(np.median(own.at_losses[own.full]))) if is_close else delay


def _step_bytes(seen: Queue, rate_bps: float) -> float:
    """Bytes that leave the bottleneck in a step of the delays."""
    step = seen.trace.resolution_ns
    return 0.0 if np.isnan(step) or step <= 1e3 else step * rate_bps / 8e9


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
    if capacity.value is None:
        return unknown(why)
    # Others may have had room, too, so own bytes are the least that it holds.
    return unknown(why, max(0.0, float(np.nanquantile(seen.backlog_bytes, 0.9995)) - seen.trace.segment_bytes))


def _buffer(filling: _Filling, capacity: Estimate, is_shared: bool, size: float, step: float) -> Estimate:
    if capacity.value is None and not filling.is_own:
        return unknown("the capacity is not known")
    full = filling.at_losses[filling.full]
    low, middle, upper, high = np.quantile(full, [0.1, 0.5, 0.75, 0.9]).tolist()
    # A delay is that of the packets before; own bytes contain the packet itself.
    value = middle if filling.is_own else upper + size
    if high - low > max(_SAME_PACKETS * size, _SAME * value) + 2 * step:
        why = "losses find the queue of different lengths: a queue discipline, a pause, or others that send in bursts"
        return unknown(why, middle * (FULL if is_shared else 1.0))
    # An ACK covers two packets.
    slack = max(2 * size, 0.04 * value, high - middle, 1.5 * step)
    least = min(value - slack, low - 2 * size) if filling.is_own else min(value - slack, filling.least - size)
    return Estimate(value, max(0.0, least), value + slack, f"{len(full):,} packets lost at a full queue")


def _follows_delay(filling: _Filling, lost: Bools, others: Bools, exposed: Bools) -> bool:
    """True if losses below a full queue come at longer queues than chance explains."""
    lengths = filling.at_sending
    of_lost = lengths[lost][others]
    of_all = np.sort(lengths[exposed & np.isfinite(lengths)])
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
    """Losses per packet with a 95 % interval of the number of runs (Garwood 1936, by Wilson and Hilferty 1931).

    Lengths of runs vary, too: geometric ones of a mean m leave as much information as m / (2 m - 1) of the runs.
    """
    if exposed == 0:
        return unknown("every packet met a full queue")
    evidence = f"{count:,} of {exposed:,} packets"
    if runs == 0:
        return Estimate(0.0, 0.0, 3.0 / exposed, evidence)
    mean, value = count / runs, count / exposed
    known = max(1.0, runs * mean / (2 * mean - 1))
    low = known * (1 - 1 / (9 * known) - 1.96 / (3 * known**0.5)) ** 3
    more = known + 1
    high = more * (1 - 1 / (9 * more) + 1.96 / (3 * more**0.5)) ** 3
    return Estimate(value, max(0.0, low) * value / known, high * value / known, evidence)
