"""Rate, round trip and data in flight of a transfer over time, to lay over those of its fitted path."""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.fitting.queue import Queue
from dumbbell.fitting.trace import Floats
from dumbbell.frozen import dataclass

STEPS: Final = 300
"""Steps of the whole time at most."""
_LEAST_STEP_S: Final = 0.02


@dataclass(frozen=True)
class Measured:
    """A value for each step of the time since the transfer began; None where it is not known."""

    time_s: list[float]
    """End of each step, s."""
    goodput_bps: list[float]
    """Payload that was delivered in it per time, bit/s."""
    rtt_ms: list[float | None]
    """Mean round trip of the packets that were acknowledged in it, ms; of a receiver's capture, base RTT and queue."""
    in_flight_bytes: list[float | None]
    """Payload that was sent, not yet delivered, and is never lost, at its end. Only the sender's capture tells it."""


def of_trace(seen: Queue, base_ns: float | None) -> Measured:
    """Returns the course of a captured transfer. `base_ns`: its base RTT, if that is known."""
    trace = seen.trace
    begin = float(min(trace.time_ns[0], trace.sent_ns[0])) - (trace.handshake_ns or 0.0)
    edges = _edges((float(trace.time_ns[-1]) - begin) / 1e9)
    time_s = (trace.time_ns - begin) / 1e9
    share = 1 - trace.frame_bytes / trace.segment_bytes
    through = _through(time_s, trace.bytes * share, edges)
    rtt = trace.delay_ns if trace.side == "sender" else seen.above_ns + (np.nan if base_ns is None else base_ns)
    flight = np.full(len(edges), np.nan)
    if trace.side != "receiver":
        sent = _through((trace.sent_ns - begin) / 1e9, np.where(trace.lost, 0.0, trace.sent_bytes) * share, edges)
        flight = np.maximum(0.0, sent - through)
    return _measured(edges, through, _means(time_s, rtt / 1e6, edges), flight)


def of_samples(end_s: Floats, payload_bytes: Floats, rtt_ns: Floats) -> Measured:
    """Returns the course of a transfer that a program sampled at times since its begin: what passed before each."""
    edges = _edges(float(end_s[-1]), float(np.median(np.diff(end_s, prepend=0.0))))
    through = np.interp(edges, np.r_[0.0, end_s], np.r_[0.0, np.cumsum(payload_bytes)])
    return _measured(edges, through, _means(end_s, rtt_ns / 1e6, edges), np.full(len(edges), np.nan))


def _edges(seconds: float, step_s: float = _LEAST_STEP_S) -> Floats:
    """Begin of the first step and end of each, s."""
    count = max(1, min(STEPS, int(seconds / max(step_s, _LEAST_STEP_S))))
    return np.linspace(0.0, max(seconds, 1e-9), count + 1)


def _through(time_s: Floats, sizes: Floats, edges: Floats) -> Floats:
    """Sum of the sizes up to each edge."""
    sums: Floats = np.r_[0.0, np.cumsum(sizes)]
    return sums[np.searchsorted(time_s, edges, "right")]


def _means(time_s: Floats, values: Floats, edges: Floats) -> Floats:
    """Mean of the known values in each step; NaN where there is none."""
    known = np.isfinite(values)
    at = np.clip(np.searchsorted(edges, time_s[known], "left") - 1, 0, len(edges) - 2)
    counts = np.bincount(at, minlength=len(edges) - 1)
    sums = np.bincount(at, weights=values[known], minlength=len(edges) - 1)
    return np.where(counts > 0, sums / np.maximum(1, counts), np.nan)


def _measured(edges: Floats, through: Floats, rtt_ms: Floats, flight: Floats) -> Measured:
    goodput = np.diff(through) * 8 / np.diff(edges)
    return Measured(
        np.round(edges[1:], 4).tolist(), np.round(goodput).tolist(), _known(rtt_ms, 3), _known(flight[1:], 0)
    )


def _known(values: Floats, digits: int) -> list[float | None]:
    return [round(one, digits) if np.isfinite(one) else None for one in values.tolist()]
