"""Losses of a direction beside its queue and its rate: evidence of random loss, overflowing queues and policers."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.captures.rows import Direction
from dumbbell.frozen import dataclass

Floats = npt.NDArray[np.float64]

LEAST_SAMPLES: Final = 10
"""RTT samples without which no queue is known."""
_APART_RTTS: Final = 1.5
"""Losses that are further apart than so many base RTTs are of different episodes."""
_SENT_AGAIN: Final = ("fast", "tail-loss-probe", "timeout", "after-timeout", "unknown")


@dataclass(frozen=True)
class Losses:
    """State of the path when packets were lost."""

    episodes: int
    """Groups of losses that are more than a round trip apart."""
    queue_ns: float
    """Median of the queueing delay at their starts: RTT above its minimum."""
    rank: float
    """Mean rank of these delays among all of the direction: 0.5 by chance, 1 if the queue was at its longest."""
    tokens_spread: float
    """Standard deviation of what a token bucket of the mean rate would have held then, as a share of its range."""
    tokens_range: float
    """Range of those tokens, bytes: how far the data that passed differs from an even rate."""
    rate_bps: float
    """Data that passed per time from the first loss to the last."""
    is_behind: bool = True
    """True if the losses came behind the capture, which then saw RTTs of packets sent just before and after them."""
    longest_ns: float = 0.0
    """The longest queueing delay of the direction."""
    at_base_share: float = 0.0
    """Share of episodes without a queue that tells, 0 to 1."""
    at_base_packets_share: float = 0.0
    """Share of lost packets without a queue that tells, 0 to 1."""
    last_ns: float = 0.0
    """Time from the direction's start to the last loss."""


@dataclass(frozen=True)
class Queueing:
    """RTT above its minimum, ns, of packets that were sent at a time, in order, with the byte behind them."""

    time_ns: Floats
    above_ns: Floats
    seq: Floats

    @classmethod
    def of(cls, rtt: pl.DataFrame, kind: str) -> Queueing:
        """Sums up rows of `rtt`: `data` is the way from the capture to the receiver, `back` that to the sender."""
        rows = rtt.filter(pl.col("kind").cast(pl.String) == kind)
        rtt_ns = rows["rtt_ns"].to_numpy().astype(np.float64)
        time_ns = rows["time_ns"].to_numpy().astype(np.float64) - (rtt_ns if kind == "data" else 0.0)
        order = np.argsort(time_ns, kind="stable")
        above = rtt_ns - rtt_ns.min() if len(rtt_ns) else rtt_ns
        seq = np.maximum.accumulate(rows["seq"].to_numpy().astype(np.float64)[order]) if len(rtt_ns) else rtt_ns
        return cls(time_ns[order], above[order], seq)


def losses(
    row: Direction, events: pl.DataFrame, rtt: pl.DataFrame, base_ns: float, least_queue_ns: float
) -> Losses | None:
    """Returns the state of the path at the losses of a direction, `row` of `directions`; None if no RTT tells.

    `least_queue_ns` is the least delay that tells a queue.

    Packets that were lost behind the capture were seen when they were sent; of those lost before it a hole was seen.
    """
    is_behind = (row["lost_behind_packets"] or 0) >= (row["lost_before_packets"] or 0)
    queueing = Queueing.of(rtt, "data" if is_behind else "back")
    if len(queueing.time_ns) < LEAST_SAMPLES:
        return None
    of = events.filter(
        pl.col("cause").cast(pl.String).is_in(_SENT_AGAIN)
        & pl.col("needless").is_null()
        & ((pl.col("class").cast(pl.String) == "fill") != is_behind)
    )
    lost_ns = np.sort((of["time_ns"] - of["delay_ns"].fill_null(0)).to_numpy().astype(np.float64))
    if len(lost_ns) == 0:
        return None
    starts = lost_ns[np.r_[True, np.diff(lost_ns) > _APART_RTTS * base_ns]]
    at, of_all = (
        np.clip(np.searchsorted(queueing.time_ns, times), 0, len(queueing.time_ns) - 1) for times in (starts, lost_ns)
    )
    above, known = queueing.above_ns[at], np.sort(queueing.above_ns)
    ranks = (np.searchsorted(known, above, "left") + np.searchsorted(known, above, "right")) / (2 * len(known))
    return Losses(
        len(starts),
        float(np.median(above)),
        float(ranks.mean()),
        *_tokens(queueing, at),
        is_behind,
        float(known[-1]),
        float((above <= least_queue_ns).mean()),
        float((queueing.above_ns[of_all] <= least_queue_ns).mean()),
        float(lost_ns[-1]) - (row["start_ns"] or 0),
    )


def _tokens(queueing: Queueing, at: npt.NDArray[np.int64]) -> tuple[float, float, float]:
    """How much a bucket of the mean rate differs from loss to loss, its range in bytes, and that rate in bit/s.

    After Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016.
    """
    first, last = at[0], at[-1]
    time_ns, seq = queueing.time_ns, queueing.seq
    if last <= first or time_ns[last] <= time_ns[first]:
        return 1.0, 0.0, 0.0
    rate = (seq[last] - seq[first]) / (time_ns[last] - time_ns[first])
    tokens = rate * (time_ns - time_ns[first]) - (seq - seq[first])
    within = tokens[first : last + 1]
    extent = float(within.max() - within.min())
    return float(tokens[at].std()) / extent if extent else 1.0, extent, 8e9 * float(rate)
