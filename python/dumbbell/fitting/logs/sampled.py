"""Fits a path to samples of a transfer."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from dumbbell.captures.diagnosis import MOSTLY, Cause
from dumbbell.errors import InputError
from dumbbell.fitting.capacity import Capacity
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs import rates
from dumbbell.fitting.logs.buffers import losses
from dumbbell.fitting.logs.samples import Samples
from dumbbell.fitting.measured import of_samples
from dumbbell.fitting.policer import Policer
from dumbbell.fitting.queue import ACK_BYTES, SYN_BYTES
from dumbbell.fitting.trace import LEAST_PACKETS, Bools, Floats
from dumbbell.fitting.transfer import Transfer

LEAST: Final = 3
"""Fewer intervals tell nothing over time."""
_FLOOR: Final = 0.01
_FLOOR_NS: Final = 300_000.0
"""Round trips within this of the least one are at the floor: a share of it, or so long."""
_SMOOTHED: Final = 0.03
"""Share of the base RTT by which a smoothed one is longer, at most, while the queue is empty."""
_SPARE: Final = 0.85
"""Share of the path's rate below which it has room, so that its queue empties."""
_LEAST_QUEUE: Final = 0.1
_LEAST_QUEUE_NS: Final = 2e6
_LEAST_OF_LONGEST: Final = 0.15
"""Packets queue if a round trip is longer than the base RTT by these: shares of it and of the longest wait, and ns."""
_ROUNDS: Final = 4.0
"""Round trips in which a queue empties and fills again."""
_RISES: Final = 0.05
"""Share of the round trip by which it must vary to tell a queue where the base RTT is not known."""


def fit_samples(samples: Samples) -> Fit:
    """Fits a path to samples. Raises `InputError` if nothing passed."""
    total_s = float(samples.end_s[-1] - samples.begin_s[0]) if len(samples.end_s) else 0.0
    passed = float(samples.payload_bytes.sum())
    packets = passed / samples.segment_payload
    if total_s <= 0 or packets < LEAST_PACKETS:
        why = f"data of {packets:.0f} packets passed, and a path shows in {LEAST_PACKETS} or more"
        raise InputError(f"{samples.name} shows no transfer", why, "log the sender while it sends, for longer")
    known = samples.rtt_ns[np.isfinite(samples.rtt_ns)]
    reference = samples.least_rtt_ns if samples.least_rtt_ns is not None else float(known.min()) if len(known) else None
    above = samples.rtt_ns - (reference or 0.0)
    busy = _busy(samples, above, reference)
    rate = rates.capacity(samples, busy, _why_not_busy(samples, known, reference))
    base = _base(samples, rate, reference)
    again, sent = samples.again_packets, samples.payload_bytes / samples.segment_payload
    count = float(np.nansum(again))
    queue = np.maximum(above[np.isfinite(above)], 0.0) / 1e6
    return Fit(
        samples.name,
        Transfer(
            samples.connection, "to-server", samples.side, total_s, int(passed), passed * 8 / total_s,
            float(samples.frames.sum()) * 8 / total_s, samples.segment_payload + samples.header_bytes,
            samples.header_bytes, int(sent.sum() + count), 0, count / max(1.0, float(sent.sum()) + count),
            (float(np.median(queue)), float(np.quantile(queue, 0.99))) if len(queue) else (0.0, 0.0),
            _cause(samples), dict(samples.limits), samples.source, samples.cc,
        ),
        rate,
        base,
        no_policer(samples.source),
        losses(samples, above, rate.available, base),
        unknown(f"the {samples.source} does not have the order of packets"),
        unknown(f"the {samples.source} does not have single ACKs"),
        samples.window,
        of_samples(samples.end_s - samples.begin_s[0], samples.payload_bytes, samples.rtt_ns),
    )  # fmt: skip


def no_policer(source: str) -> Policer:
    """The estimates of a policer, which shows in single packets only."""
    one = unknown(f"the {source} does not have single packets, by which a policer shows")
    return Policer(one, replace(one))


def _busy(samples: Samples, above: Floats, reference: float | None) -> Bools:
    """True for intervals at whose both ends packets waited."""
    if reference is None or not np.isfinite(above).any():
        return np.zeros(len(above), dtype=bool)
    longest = float(np.nanquantile(above, 0.95))
    least = max(_LEAST_QUEUE_NS, _LEAST_QUEUE * reference, _LEAST_OF_LONGEST * longest)
    if samples.least_rtt_ns is None:
        least = max(_LEAST_QUEUE_NS / 2, _RISES * reference, _LEAST_OF_LONGEST * longest)
    waits = np.nan_to_num(above) > least
    # In a long interval the queue may empty after a loss, and fill again.
    drains = (np.nan_to_num(samples.again_packets) > 0) & (samples.width_s * 1e9 > _ROUNDS * (reference + longest))
    busy: Bools = waits & np.r_[False, waits[:-1]] & ~samples.is_limited & ~drains
    return busy


def _why_not_busy(samples: Samples, known: Floats, reference: float | None) -> str:
    if reference is None:
        return f"the {samples.source} has no delays, so it does not tell whether packets queued"
    if samples.is_limited.mean() >= MOSTLY:
        return "the sender was held back for most of the time, so it did not fill the path"
    if samples.least_rtt_ns is None and np.quantile(known, 0.95) < reference * (1 + _RISES):
        return "the delay hardly varies, so it does not tell whether packets queued"
    return "packets hardly ever queued"


def _base(samples: Samples, rate: Capacity, reference: float | None) -> Estimate:
    """Base RTT, ns: without serialisation at the bottleneck, and without queues."""
    source = samples.source
    if reference is None:
        return unknown(f"the {source} has no round trips")
    if not samples.is_round_trip:
        why = f"the {source} has delays in one direction, not round trips"
        return unknown(why, reference, None, f"least of {np.isfinite(samples.rtt_ns).sum():,} delays")
    passed = samples.frames * 8 / samples.width_s
    most = rate.available.value or float(np.quantile(passed, 0.95))
    serial = (samples.segment_payload + samples.header_bytes + ACK_BYTES) * 8e9 / max(most, 1.0)
    if samples.least_rtt_ns is not None:
        least = samples.least_rtt_ns
        value = least - (2 * SYN_BYTES * 8e9 / most if samples.is_since_open else serial)
        slack = max(0.2e6, 0.005 * least)
        evidence = "least round trip that the kernel kept" + (", since the handshake" if samples.is_since_open else "")
        return Estimate(max(0.0, value), max(0.0, least - serial - slack), least + slack, evidence)
    near = samples.rtt_ns <= reference + max(_FLOOR_NS, _FLOOR * reference)
    error = samples.slack_bytes * 8 * samples.frame_share / samples.width_s
    has_room = (passed > 0) & (passed + error < _SPARE * most)
    # A burst after a pause leaves a smoothed round trip that is that of the burst.
    spare = near & has_room & np.r_[False, has_room[:-1]]
    evidence = f"least of {np.isfinite(samples.rtt_ns).sum():,} round trips"
    if rate.varies or spare.sum() < LEAST:
        why = "nothing shows that the queue was empty when the round trip was least"
        return unknown(why, 0.0, reference, evidence)
    # A smoothed round trip contains waits for slots of a radio, and of hosts.
    low, high = reference - serial - max(0.5e6, _SMOOTHED * reference), reference + max(0.2e6, 0.01 * reference)
    return Estimate(max(0.0, reference - serial), max(0.0, low), high, evidence)


def _cause(samples: Samples) -> Cause:
    for limit, cause in (("window", Cause.WINDOW), ("application", Cause.APPLICATION)):
        if samples.limits.get(limit, 0.0) >= MOSTLY:
            return cause
    return Cause.SHORT if len(samples.end_s) < LEAST else Cause.UNKNOWN
