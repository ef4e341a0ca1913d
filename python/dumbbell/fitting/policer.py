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

from dumbbell.fitting.bucket import LEAST_RUNS, Band, Bucket
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.queue import Queue
from dumbbell.fitting.trace import Bools, Floats, Trace
from dumbbell.frozen import dataclass

_LEAST_LOSSES: Final = 8
_SHARE: Final = 0.45
"""Share of the runs of losses at least whose deficit is the same within a packet. Losses elsewhere shift the deficits
behind them; the receiver places some holes late."""
_ENOUGH: Final = 300_000
"""Transmissions that tell a policer, if they hold"""
_ENOUGH_RUNS: Final = 300
"""so many runs of losses: later ones are not looked at, as a search takes seconds for each million."""
_FEW: Final = 12
_SHARE_OF_FEW: Final = 0.8
"""Share of fewer runs than that: chance lets some of them agree. Also if deficits may have two values."""
_MOST_BEYOND: Final = 0.04
"""Share of the packets that may pass at a larger deficit than losses find."""
_HIGHER: Final = {"sender": 0.8, "both": 0.8, "receiver": 0.6}
"""Probability at least that a loss finds a larger deficit than a packet that passes: of losses by chance it is 0.5."""
_FASTEST: Final = 1.1
"""Share of the capacity up to which a rate is tried: a faster bucket never drops."""
_FULL: Final = 0.8
"""Share of the longest delay from which on a loss may be one of a full queue behind the bucket."""
_MOST_FULL: Final = 0.9
"""Share of the losses that may be such ones."""
_BLUR: Final = 0.3
"""Error of the times at which packets came to the bucket, in steps of the receiver's delays."""
_PAUSE: Final = 4.0
"""Usual gaps between packets, beyond which the sender paused."""
_DELAYED: Final = 0.7
"""Share of deficit / rate by which packets are delayed at losses, from which on it is a queue."""
_BEHIND: Final = 0.9
"""Share of rate / capacity: a burst that a policer lets pass waits before the link behind it, but no longer."""
_NEAR_LINK: Final = {"sender": 0.93, "both": 0.93, "receiver": 0.8}
"""A bucket whose rate is above this share of the capacity may be the link's own queue, or what others leave of it,"""
_HARDLY_DELAYED: Final = 0.1
"""unless packets at losses were delayed by less than this share of deficit / rate."""
_WORSE: Final = 0.08
"""Rates belong to the interval whose contrast is lower than the best one's by this at most."""
_SURE: Final = 0.02
"""Half width of that interval, as a share of the rate, beyond which the order of deficits is asked, too."""
_WIDEST: Final = 0.05
"""Half width of the interval, as a share of the rate, beyond which the rate is not known."""


@dataclass(frozen=True)
class Policer:
    """A token bucket before the bottleneck."""

    rate: Estimate
    """Rate of tokens, bit/s of frames."""
    burst: Estimate
    """Size of the bucket, bytes."""
    is_likely: bool = False
    """True if losses are like those of a policer, but too few to tell its rate."""

    @property
    def is_found(self) -> bool:
        """True if losses tell a policer."""
        return self.rate.is_identifiable


def policer(seen: Queue, capacity_bps: float | None) -> Policer:
    """Returns the token bucket that explains the losses, if one does and packets were not delayed as by a queue."""
    trace = seen.trace
    losses = int(trace.lost.sum())
    runs = int((trace.lost & ~np.r_[False, trace.lost[:-1]]).sum())
    if losses < _LEAST_LOSSES or runs < LEAST_RUNS:
        return _none(
            f"{losses} packets were lost in {runs} runs, and a policer shows in {_LEAST_LOSSES} packets of "
            f"{LEAST_RUNS} runs or more"
        )
    if not np.isfinite(delays := seen.at_losses()).any():
        return _none("the delay at losses is not known")
    at_bucket = _first(_as_sent(seen) if trace.side == "receiver" else trace)
    used = int(at_bucket.lost.sum())
    blur = _BLUR * trace.resolution_ns if trace.side == "receiver" else 0.0
    why = "no rate explains the losses"
    best: tuple[Bucket, Band, float] | None = None
    behind = [full[: len(at_bucket.lost)] for full in _behind(seen, delays)]
    # At last: nothing is known of losses behind the bucket while it was not full.
    for full, is_unsettled in [(full, False) for full in behind] + [(behind[0], True)] * (len(behind) - 1):
        if is_unsettled and best is not None:
            break
        bucket = Bucket(at_bucket, full, blur, is_unsettled)
        if not bucket.runs:
            continue
        delay = float(np.nanmedian(delays[:used][~full[at_bucket.lost]]))
        for band in bucket.search(None if capacity_bps is None else _FASTEST * capacity_bps):
            least = _SHARE_OF_FEW if is_unsettled or bucket.runs < _FEW else _SHARE
            if why_not := _why_not(band, least, delay, capacity_bps, trace.side):
                why = why_not
            elif best is None or band.contrast > best[1].contrast:
                best = bucket, band, float(at_bucket.sent_bytes[full].sum())
    if best is None:
        return _none(why)
    episodes = _episodes(trace)
    return _policer(*best, f"{losses:,} losses in {episodes:,} episode{'s' if episodes > 1 else ''}")


def _first(trace: Trace) -> Trace:
    """The trace up to the transmission behind which no more losses are needed."""
    runs = np.flatnonzero(trace.lost & ~np.r_[False, trace.lost[:-1]])
    if len(trace.lost) <= _ENOUGH or len(runs) <= _ENOUGH_RUNS:
        return trace
    end = max(_ENOUGH, int(runs[_ENOUGH_RUNS]))
    return replace(trace, sent_ns=trace.sent_ns[:end], sent_bytes=trace.sent_bytes[:end], lost=trace.lost[:end])


def _why_not(band: Band, least: float, delay_ns: float, capacity_bps: float | None, side: str) -> str:
    """Why a band of deficits, which holds `least` of the losses, is not that of a policer; empty if it is."""
    is_narrow = band.share >= least and band.inside >= LEAST_RUNS and band.passed_beyond <= _MOST_BEYOND
    if not is_narrow or max(band.higher, (1 + band.contrast) / 2) < _HIGHER[side]:
        return "losses do not follow a token bucket"
    share = 1.0 if capacity_bps is None else min(1.0, band.rate_bps / capacity_bps)
    is_near_link = capacity_bps is not None and share > _NEAR_LINK[side]
    most = _HARDLY_DELAYED if is_near_link else min(_DELAYED, _BEHIND * share)
    if not delay_ns < most * band.top * 8e9 / band.rate_bps:
        return "packets were delayed at losses: a queue overflowed"
    return ""


def _behind(seen: Queue, delays: Floats) -> list[Bools]:
    """Returns the losses that may have happened behind the bucket: none, or those while packets waited longest."""
    lost = seen.trace.lost
    nothing = np.zeros(len(lost), dtype=bool)
    is_full = delays >= _FULL * float(np.nanquantile(seen.above_ns, 0.9995))
    if not 0 < is_full.mean() <= _MOST_FULL:
        return [nothing]
    full = nothing.copy()
    full[np.flatnonzero(lost)[is_full]] = True
    return [nothing, full]


def _policer(bucket: Bucket, band: Band, behind: float, evidence: str) -> Policer:
    """The estimates, with the interval of rates that explain the losses nearly as well. `behind`: bytes that may have
    been lost behind the bucket."""
    rate = band.rate_bps
    low, high = (rate * (1 + bucket.reach(band, sign, _WORSE, 2 * _WIDEST)) for sign in (-1, 1))
    if high - low > 2 * _SURE * rate:
        low, high = bucket.parting(rate * (1 - 2 * _WIDEST), rate * (1 + 2 * _WIDEST))
    if high - low > 2 * _WIDEST * rate:
        why = "losses are like those of a policer, but too few to tell its rate"
        return Policer(unknown(why, low, high, evidence), unknown(why), True)
    middle = (low + high) / 2
    burst = bucket.band(middle).top
    slack = max(2 * bucket.packet, 0.05 * burst)
    # Losses behind the bucket are not all known.
    least = max(bucket.packet, burst - slack - behind)
    return Policer(
        Estimate(middle, min(low, 0.99 * middle), max(high, 1.01 * middle), evidence),
        Estimate(burst, least, burst + slack, evidence),
    )


def _as_sent(seen: Queue) -> Trace:
    """The trace with times at which packets left the sender, but for a constant.

    Packets that hardly waited came as they were sent. Others were sent in the middle of a step of the sender's clock.
    What was lost was sent between its neighbours, evenly; but if the sender paused there, as the last of a burst. A
    bucket drops no packet behind a pause, in which it gains tokens.
    """
    trace = seen.trace
    step = 0.0 if np.isnan(trace.resolution_ns) else trace.resolution_ns
    waited = np.nan_to_num(seen.above_ns)
    through = np.flatnonzero(~trace.lost)
    sent = np.maximum.accumulate(np.where(waited < step, trace.time_ns, trace.time_ns - waited + step / 2))
    times = np.interp(np.arange(len(trace.lost)), through, sent)
    gaps = np.diff(sent)
    if (gaps > 0).any():
        usual = float(np.median(gaps[gaps > 0]))
        lost = np.flatnonzero(trace.lost)
        before = np.searchsorted(through, lost) - 1
        lost, before = (of[(before >= 0) & (before < len(gaps))] for of in (lost, before))
        is_pause = gaps[before] > _PAUSE * usual * np.diff(through)[before]
        lost, before = lost[is_pause], before[is_pause]
        times[lost] = sent[before] + usual * (lost - through[before])
    return replace(trace, sent_ns=times)


def _none(why: str) -> Policer:
    return Policer(unknown(why), unknown(why))


def _episodes(trace: Trace) -> int:
    """Groups of losses that are more than 1.5 round trips apart."""
    lost = trace.sent_ns[trace.lost]
    floor = float(trace.floor_ns.min()) if len(trace.floor_ns) else 100e6
    return int(1 + (np.diff(lost) > 1.5 * floor).sum()) if len(lost) else 0
