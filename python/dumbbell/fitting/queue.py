"""Base RTT, and the delay of each delivery above it."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.trace import Bools, Floats, Ints, Trace
from dumbbell.frozen import dataclass

_TIMER_NS: Final = 10e6
"""A packet without a successor for so long may have waited for the timer of delayed ACKs, 40 ms or more in Linux."""
SYN_BYTES: Final = 74
ACK_BYTES: Final = 66
"""Frames with usual options."""
_FLOOR_SHARE: Final = 0.01
_FLOOR_NS: Final = 300_000.0
"""Samples within this of the least one are at the floor: a share of it, or so long."""
_FASTER: Final = 0.3
"""Share of its time by which a packet may be served faster than at a high rate of a link whose rate varies."""
_IDLE: Final = 0.85
"""A bottleneck that serves a connection at less than this share of its rate beside a queue has no queue."""
_LEAST_SPAN_NS: Final = 20e6
_LEAST_FLOOR: Final = 3
"""Samples at the floor, each of another round trip, without which it is only an upper bound."""


@dataclass(frozen=True)
class Queue:
    """Delay of deliveries above the least one, ns."""

    trace: Trace
    above_ns: Floats
    """Delay of each delivery; NaN if it is not known."""
    standing_ns: float
    """Part of the least delay that the handshake did not have: a queue that never drained."""

    @cached_property
    def filled_ns(self) -> Floats:
        """`above_ns`, where it is unknown that of the delivery before, although the queue may have drained since."""
        known = np.isfinite(self.above_ns)
        last = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
        return np.where(last >= 0, self.above_ns[np.maximum(last, 0)], 0.0)

    @cached_property
    def stood_ns(self) -> Floats:
        """Time before each delivery for which the queue certainly stood: its delay, or what the next known one shows.

        Delays before a delivery show nothing: the queue may have drained since. Negative where it may be empty.
        """
        known = np.isfinite(self.above_ns)
        count = len(known)
        following = np.minimum.accumulate(np.where(known, np.arange(count), count)[::-1])[::-1]
        begin = np.r_[self.trace.time_ns - self.above_ns, np.inf]
        stood: Floats = self.trace.time_ns - begin[following]
        return stood

    @cached_property
    def backlog_bytes(self) -> Floats:
        """Bytes of this connection that left the queue while each delivery waited in it; NaN if that is not known.

        Whatever the rate did meanwhile, these bytes were in the queue before it.
        """
        trace = self.trace
        through = np.r_[0.0, np.cumsum(trace.bytes)]
        came = np.searchsorted(trace.time_ns, trace.time_ns - np.nan_to_num(self.above_ns), "right")
        return np.where(np.isfinite(self.above_ns), through[1:] - through[came], np.nan)

    @cached_property
    def _by_sending(self) -> tuple[Floats, Ints]:
        """Times at which delivered packets were sent (at the receiver: arrived), and the order of these times."""
        known = np.flatnonzero(np.isfinite(self.above_ns))
        sent = self.trace.time_ns[known]
        if self.trace.side != "receiver":
            sent = sent - self.trace.delay_ns[known]
        order = np.argsort(sent, kind="stable")
        return sent[order], known[order]

    def at_losses(self, values: Floats | None = None) -> Floats:
        """The larger value of the packets delivered just before and just after each lost one: by default, the delay."""
        times, index = self._by_sending
        lost = self.trace.sent_ns[self.trace.lost]
        if len(times) == 0:
            return np.full(len(lost), np.nan)
        of = (self.above_ns if values is None else values)[index]
        at = np.searchsorted(times, lost)
        before, after = of[np.maximum(at - 1, 0)], of[np.minimum(at, len(of) - 1)]
        return np.fmax(before, after)

    def at_sending(self, values: Floats | None = None) -> Floats:
        """The value of the delivered packet sent last before each transmission: by default, the delay."""
        times, index = self._by_sending
        if len(times) == 0:
            return np.full(len(self.trace.sent_ns), np.nan)
        of = (self.above_ns if values is None else values)[index]
        at: Ints = np.searchsorted(times, self.trace.sent_ns, "right") - 1
        return of[np.maximum(at, 0)]


def without_timers(trace: Trace) -> Floats:
    """`delay_ns` of a trace without deliveries that may have waited for the timer of delayed ACKs."""
    if trace.side != "sender":
        return trace.delay_ns
    sent = trace.time_ns - trace.delay_ns
    following = np.searchsorted(trace.sent_ns, sent, "right")
    gap = np.full(len(sent), np.inf)
    within = following < len(trace.sent_ns)
    gap[within] = trace.sent_ns[following[within]] - sent[within]
    waits: Bools = (trace.packets <= 1) & (gap > _TIMER_NS)
    return np.where(waits, np.nan, trace.delay_ns)


def queue(trace: Trace, rate_bps: float) -> Queue:
    """The delays of a trace above the base, with the rate of the bottleneck as far as it is known."""
    delay = without_timers(trace)
    if not np.isfinite(delay).any():
        return Queue(trace, delay, 0.0)
    standing = 0.0
    if trace.handshake_ns is not None and len(trace.floor_ns):
        larger = (trace.segment_bytes - SYN_BYTES) * 8e9 / rate_bps
        beyond = float(trace.floor_ns.min()) - trace.handshake_ns - larger
        # Hosts answer data later than a SYN, and a timestamp has steps.
        tolerance = max(1e6, 0.03 * trace.handshake_ns, 0.0 if np.isnan(trace.resolution_ns) else trace.resolution_ns)
        standing = beyond if beyond > tolerance else 0.0
    return Queue(trace, delay - np.nanmin(delay) + standing, standing)


def base_rtt(
    trace: Trace,
    rate_bps: float,
    queued_bps: float | None = None,
    pause_ns: float = 0.0,
    slowest_bps: float | None = None,
) -> Estimate:
    """Returns the base RTT, ns: without serialisation at the bottleneck, and without queues.

    `queued_bps` is the rate that this connection got while its packets queued. `pause_ns` is what the least round trip
    may have waited for a link that pauses, or for others. `slowest_bps` is the least of a rate that varies.
    """
    floor = trace.floor_ns
    if trace.side == "sender":
        delay = without_timers(trace)
        floor = delay[np.isfinite(delay)]
    candidates: list[tuple[float, str]] = []
    serial = (trace.segment_bytes + ACK_BYTES) * 8e9 / rate_bps
    if len(floor):
        candidates.append((float(floor.min()) - serial, "data"))
    if trace.handshake_ns is not None:
        candidates.append((trace.handshake_ns - 2 * SYN_BYTES * 8e9 / rate_bps, "handshake"))
    if not candidates:
        return unknown("no round trip was seen: it takes timestamps, or ACKs")
    value, source = min(candidates)
    value = max(value, 0.0)
    tolerance = max(_FLOOR_NS, _FLOOR_SHARE * value)
    others = [one for one, _ in candidates if one - value <= tolerance]
    at_floor = 0
    if len(floor):
        near = np.flatnonzero(floor - serial - value <= tolerance)
        at_floor = len(near)
    is_drained = trace.begins or _is_drained(trace, queued_bps or rate_bps, value + serial, tolerance)
    evidence = " and ".join(
        ([f"least of {len(floor):,} round trips of data"] if len(floor) else [])
        + (["the handshake"] if trace.handshake_ns is not None else [])
    )
    width = max(0.2e6, 0.005 * value, ACK_BYTES * 8e9 / rate_bps) + trace.clock_ns
    if slowest_bps is not None:
        pause_ns += (trace.segment_bytes + ACK_BYTES) * 8e9 * (1 / slowest_bps - 1 / rate_bps)
        # The packet of the least round trip may have met a rate above `rate_bps`.
        width += _FASTER * serial
    if len(others) < 2 and at_floor < _LEAST_FLOOR and source != "handshake":
        return unknown("the least round trip was seen once, so a queue may never have been empty", 0.0, value, evidence)
    if not is_drained:
        why = "there is no handshake, and no round trip shows that the queue was empty"
        return unknown(why, 0.0, value + width, evidence)
    return Estimate(value, max(0.0, value - width - pause_ns), value + width, evidence)


def _is_drained(trace: Trace, queued_bps: float, floor_ns: float, tolerance_ns: float) -> bool:
    """True if the bottleneck idled in the round trip before some of the least delays, so that its queue was empty.

    A queue that stands is served at the rate that this connection gets while its packets queue.
    """
    if trace.side != "sender":
        # Delays of the receiver have an unknown offset: those at the least one had the least queue.
        floor_ns = float(np.nanmin(trace.delay_ns)) if np.isfinite(trace.delay_ns).any() else np.nan
        tolerance_ns = max(tolerance_ns, trace.resolution_ns)
    span = max(float(np.median(trace.floor_ns)) if len(trace.floor_ns) else 0.0, _LEAST_SPAN_NS)
    through = np.r_[0.0, np.cumsum(trace.bytes)]
    before = np.searchsorted(trace.time_ns, trace.time_ns - span, "left")
    passed = through[1:] - through[before]
    is_whole = trace.time_ns - span >= trace.time_ns[0]
    is_least = np.nan_to_num(trace.delay_ns - floor_ns, nan=np.inf) <= tolerance_ns
    idled = is_least & is_whole & (passed * 8e9 / span < _IDLE * queued_bps)
    return int(idled.sum()) >= _LEAST_FLOOR
