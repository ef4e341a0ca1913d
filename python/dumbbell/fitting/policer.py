"""A policer, or a virtual queue: the token bucket that explains which packets were lost.

A bucket that holds `burst` bytes and gains `rate` drops a packet if it has fewer tokens than the packet's bytes. Its
deficit is that of a virtual queue: what passed, less what the rate would have drained. All losses find the same
deficit, and no packet passes at a larger one. A queue of a link obeys the same law with its own rate and buffer, but
delays packets by deficit / rate; a policer does not. After Flach et al., An Internet-Wide Analysis of Traffic Policing,
SIGCOMM 2016.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.queue import Queue
from dumbbell.fitting.trace import Floats, Trace
from dumbbell.frozen import dataclass

_LEAST_LOSSES: Final = 8
_LEAST_RUNS: Final = 6
"""Runs of losses, without which a rate can always be chosen that explains them."""
_TIGHT: Final = 0.04
"""Deficits at losses differ from their median by this share of it at the sender, on average,"""
_TIGHT_PACKETS: Final = 0.7
"""or by so many packets."""
_BLURRED: Final = 3.0
"""or by more, if many episodes of losses agree:"""
_AGREE: Final = {"sender": 10, "both": 10, "receiver": 4}
"""Episodes at least. At the receiver a hole is seen late, and delays have steps."""
_TYPICAL: Final = {"sender": 1.0, "both": 1.0, "receiver": 0.8}
"""Share of the losses, the nearest ones, that count for that: the receiver places some holes late."""
_MOST_BEYOND: Final = 0.04
"""Share of the packets that may pass at a larger deficit than losses find."""
_DELAYED: Final = 0.7
"""Share of deficit / rate by which packets are delayed at losses, from which on it is a queue."""
_BEHIND: Final = 0.9
"""Share of rate / capacity: a burst that a policer lets pass waits before the link behind it, but no longer."""
_NEAR_LINK: Final = {"sender": 0.93, "both": 0.93, "receiver": 0.8}
"""A bucket whose rate is above this share of the capacity may be the link's own queue, or what others leave of it,"""
_HARDLY_DELAYED: Final = 0.1
"""unless packets at losses were delayed by less than this share of deficit / rate."""
_LEAST_BURST: Final = 3
"""Packets that a bucket holds at least."""
_GRID: Final = 240
_SAMPLE: Final = 50_000
"""Transmissions whose deficits tell the usual longest one."""


@dataclass(frozen=True)
class Policer:
    """A token bucket before the bottleneck."""

    rate: Estimate
    """Rate of tokens, bit/s of frames."""
    burst: Estimate
    """Size of the bucket, bytes."""

    @property
    def is_found(self) -> bool:
        """True if losses tell a policer."""
        return self.rate.is_identifiable


def policer(seen: Queue, capacity_bps: float | None) -> Policer:
    """Returns the token bucket that explains the losses, if one does and packets were not delayed as by a queue."""
    trace = seen.trace
    losses = int(trace.lost.sum())
    runs = int((trace.lost & ~np.r_[False, trace.lost[:-1]]).sum())
    if losses < _LEAST_LOSSES or runs < _LEAST_RUNS:
        return _none(
            f"{losses} packets were lost in {runs} runs, and a policer shows in {_LEAST_LOSSES} packets of "
            f"{_LEAST_RUNS} runs or more"
        )
    episodes = _episodes(trace)
    found = _fit(_as_sent(seen) if trace.side == "receiver" else trace)
    if found is None:
        return _none("no rate explains the losses")
    rate, burst, spread, beyond = found
    tight = max(_TIGHT * burst, _TIGHT_PACKETS * trace.segment_bytes)
    if episodes >= _AGREE[trace.side]:
        tight *= _BLURRED
    if spread > tight or beyond > _MOST_BEYOND:
        return _none("losses do not follow a token bucket")
    delayed = float(np.nanmedian(seen.at_losses()))
    if not np.isfinite(delayed):
        return _none("the delay at losses is not known")
    share = 1.0 if capacity_bps is None else min(1.0, rate / capacity_bps)
    is_near_link = capacity_bps is not None and share > _NEAR_LINK[trace.side]
    most = _HARDLY_DELAYED if is_near_link else min(_DELAYED, _BEHIND * share)
    if delayed >= most * burst * 8e9 / rate:
        return _none("packets were delayed at losses: a queue overflowed")
    evidence = f"{losses:,} losses in {episodes:,} episode{'s' if episodes > 1 else ''}"
    error = max(0.01, 2 * trace.segment_bytes / burst / episodes**0.5)
    slack = max(2 * trace.segment_bytes, 0.05 * burst)
    return Policer(
        Estimate(rate, rate * (1 - error), rate * (1 + error), evidence),
        Estimate(burst, burst - slack, burst + slack, evidence),
    )


def _as_sent(seen: Queue) -> Trace:
    """The trace with times at which packets would have arrived without the queue."""
    waited = np.nan_to_num(seen.at_sending())
    return replace(seen.trace, sent_ns=np.maximum.accumulate(seen.trace.sent_ns - waited))


def _none(why: str) -> Policer:
    return Policer(unknown(why), unknown(why))


def _episodes(trace: Trace) -> int:
    """Groups of losses that are more than 1.5 round trips apart."""
    lost = trace.sent_ns[trace.lost]
    floor = float(trace.floor_ns.min()) if len(trace.floor_ns) else 100e6
    return int(1 + (np.diff(lost) > 1.5 * floor).sum()) if len(lost) else 0


class _Bucket:
    """Deficits of a trace's transmissions, for any rate."""

    def __init__(self, trace: Trace) -> None:
        passed = np.where(trace.lost, 0.0, trace.sent_bytes)
        self._before = np.cumsum(passed) - passed
        self._since = (trace.sent_ns - trace.sent_ns[0]) / 8e9
        self._lost = np.flatnonzero(trace.lost)
        self._first = np.flatnonzero(trace.lost & ~np.r_[False, trace.lost[:-1]])
        self._typical = max(1, round(_TYPICAL[trace.side] * len(self._first)))
        self._size = trace.segment_bytes
        self._step = max(1, len(passed) // _SAMPLE)

    def deficits(self, rate_bps: float) -> Floats:
        """Bytes by which what had passed before each transmission exceeds what a bucket of a rate had gained."""
        tokens = self._since * rate_bps
        tokens -= self._before
        found: Floats = np.maximum.accumulate(tokens)
        found -= tokens
        return found

    def spread(self, rate_bps: float) -> tuple[float, float, float, float]:
        """Median deficit at losses under a rate, the mean distance of most from it, the usual longest one, and beyond.

        All in bytes but the last: the share of packets that passed at a deficit beyond that of losses, by two packets.
        """
        every = self.deficits(rate_bps)
        at = every[self._first]
        middle = float(np.median(at))
        most = middle + 2 * self._size
        passed = len(every) - len(self._lost)
        beyond = (np.count_nonzero(every > most) - np.count_nonzero(every[self._lost] > most)) / max(1, passed)
        away = np.sort(np.abs(at - middle))[: self._typical]
        return middle, float(away.mean()), float(np.quantile(every[:: self._step], 0.98)), beyond

    def cost(self, rate_bps: float) -> float:
        """How badly a rate explains the losses."""
        middle, spread, longest, beyond = self.spread(rate_bps)
        if middle < _LEAST_BURST * self._size:
            return np.inf
        return spread / (longest + 3 * self._size) + beyond


def _fit(trace: Trace) -> tuple[float, float, float, float] | None:
    """Rate, burst, spread of the deficits, and the share of packets that passed beyond the burst."""
    passed = float(trace.sent_bytes[~trace.lost].sum())
    mean = passed * 8e9 / max(1.0, float(trace.sent_ns[-1] - trace.sent_ns[0]))
    rates = mean * np.geomspace(0.7, 4.0, _GRID)
    bucket = _Bucket(trace)
    best = min(rates, key=lambda rate: bucket.cost(float(rate)))
    if not np.isfinite(bucket.cost(float(best))):
        return None
    for width in (0.01, 0.002):
        best = min(best * np.linspace(1 - width, 1 + width, 21), key=lambda rate: bucket.cost(float(rate)))
    middle, spread, _, beyond = bucket.spread(float(best))
    # A packet is lost if its bytes do not fit into what is left.
    return float(best), middle + trace.segment_bytes / 2, spread, beyond
