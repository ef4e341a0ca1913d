"""What holds a direction of a captured connection back: the first rule that holds. All thresholds stand here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import log
from typing import Any, Final

import polars as pl

from dumbbell.captures.capture import Capture
from dumbbell.captures.directions import limits_ns
from dumbbell.captures.losses import Losses, losses
from dumbbell.captures.rates import passed_bps, queueing_ns, rate_with_queue_bps, rates_bps

MOSTLY: Final = 0.5
"""Share of the time for which window or application must limit to be the cause."""
LEAST_LOSSES: Final = 3
"""Fewer lost packets, or late ones, tell nothing about why."""
QUEUE_SHARE: Final = 0.05
"""A queue delays packets by more than this share of the base RTT,"""
QUEUE_NS: Final = 200_000.0
"""and by more than this, which hosts take."""
AT_BASE: Final = 0.1
"""Up to this share above its minimum the RTT counts as being at its minimum."""
LEAST_SIDE: Final = 0.1
"""Share of the base RTT between capture and an end above which delays on that side are those of the path."""
FULL: Final = 0.8
"""A queue that overflows delays packets by this share of its usual most, the 95th percentile, or more."""
CHANCE_RANK: Final = 0.8
"""A loss by chance finds the queue longer than in half of the time, on average, and in this share at most."""
POLICED_EPISODES: Final = 4
POLICED_SPREAD: Final = 0.15
"""A policer drops when its bucket is empty: at losses its tokens differ by less than this share of their range."""
EVEN: Final = 0.03
EVEN_LOSS: Final = 0.02
EVEN_APPLICATION: Final = 0.1
"""A sender that always exceeds the rate keeps the bucket nearly empty: its range is less than `EVEN` of what passed,
though so many packets are lost, and the application limits for less of the time."""
SLOW_START_GROWTH: Final = 1.5
"""In slow start the window grows so many times each round at least, delayed ACKs included."""
SLOW_START_ROUNDS: Final = 2.0
"""Rounds more than growth needs: the first one, and the last ACK."""
INITIAL_WINDOW: Final = 10
"""Packets (RFC 6928)."""


MOST_DIAGNOSED: Final = 20
"""Directions of a capture that are diagnosed, those with the most payload: it takes all their samples."""


class Cause(StrEnum):
    """What holds a direction back."""

    SHORT = "too short to judge"
    UNKNOWN = "can't be told"
    WINDOW = "receive window"
    APPLICATION = "application"
    REORDERING = "reordering"
    RANDOM = "random loss"
    OVERFLOW = "queue overflow"
    POLICER = "policer"
    LOSSES = "losses"
    SLOW_START = "slow start"
    QUEUE = "bottleneck queue"
    SENDER = "congestion window"


@dataclass(frozen=True)
class Evidence:
    """What tells why a direction was not faster. What is not known is None."""

    limits_ns: dict[str, int] = field(default_factory=dict)
    """Time under each limit; empty if it is not known, or too short to tell."""
    acknowledged_bytes: int | None = None
    lost_packets: int = 0
    sent_packets: int = 0
    late_packets: int = 0
    """Packets that came late, and retransmissions that were needless."""
    base_rtt_ns: float | None = None
    """The least RTT, from sender to receiver and back."""
    losses: Losses | None = None
    queue_ns: float | None = None
    """95th percentile of the RTT above its minimum."""
    rounds: float | None = None
    """Length in base RTTs."""
    first_bytes: int = 1
    """The window at the start."""

    def share(self, limit: str) -> float:
        """Share of the time under a limit."""
        return self.limits_ns[limit] / max(1, sum(self.limits_ns.values()))

    @property
    def least_queue_ns(self) -> float | None:
        """Delay that tells a queue."""
        return None if self.base_rtt_ns is None else max(QUEUE_SHARE * self.base_rtt_ns, QUEUE_NS)

    @property
    def has_queue(self) -> bool | None:
        """Whether packets waited in a queue; None if it is not known."""
        least = self.least_queue_ns
        return None if self.queue_ns is None or least is None else self.queue_ns > least

    @property
    def is_slow_start(self) -> bool:
        """Whether a window that grows in each round needs as many rounds to send so much."""
        if self.rounds is None or self.acknowledged_bytes is None:
            return False
        # The bytes of rounds that grow by a factor are a geometric sum.
        grown = 1 + self.acknowledged_bytes * (SLOW_START_GROWTH - 1) / self.first_bytes
        return self.rounds <= SLOW_START_ROUNDS + log(grown) / log(SLOW_START_GROWTH)


@dataclass(frozen=True)
class Diagnosis:
    """What holds a direction back, and the rate of the bottleneck."""

    cause: Cause
    seen: Evidence
    bottleneck_bps: float | None = None
    """What the bottleneck carries of this connection, as frames with data; None if it cannot be told."""
    passed_bps: float | None = None
    """What passed in a second, which the bottleneck carries at least; None of a shorter time."""


def diagnose(capture: Capture, directions: Sequence[dict[str, Any]]) -> list[Diagnosis]:
    """A diagnosis of each of some rows of `directions`."""
    numbers = {row["connection"] for row in directions}
    about = capture.about(numbers)
    tables = [capture.rows(name, numbers) for name in ("events", "rtt", "intervals")]
    width_ns = int(capture.summary["interval_ns"])
    found = []
    for row in directions:
        mine = (pl.col("connection") == row["connection"]) & (pl.col("direction").cast(pl.String) == row["direction"])
        events, rtt, intervals = (table.filter(mine) for table in tables)
        rtt = rtt.filter(pl.col("kind").cast(pl.String).is_in(_sides(row, about[row["connection"]])))
        seen = _evidence(row, about[row["connection"]], events, rtt)
        cause = cause_of(seen)
        rates = rates_bps(row, intervals, width_ns)
        bottleneck = None
        if cause is Cause.POLICER and seen.losses is not None:
            bottleneck = seen.losses.rate_bps * row["frame_bytes"] / row["payload_bytes"]
        elif seen.has_queue and seen.least_queue_ns is not None and cause not in _UNFILLED:
            bottleneck = rate_with_queue_bps(rates, intervals, rtt, seen.least_queue_ns, width_ns)
        found.append(Diagnosis(cause, seen, bottleneck, passed_bps(row, intervals, width_ns)))
    return found


_UNFILLED: Final = (Cause.WINDOW, Cause.APPLICATION, Cause.SLOW_START, Cause.REORDERING)
"""Senders that do not fill the bottleneck, or whose delays are not those of a queue."""


def cause_of(seen: Evidence) -> Cause:
    """The first rule that holds."""
    if seen.acknowledged_bytes is None:
        return Cause.UNKNOWN
    if not sum(seen.limits_ns.values()):
        return Cause.SHORT
    for limit, cause in (("window", Cause.WINDOW), ("application", Cause.APPLICATION)):
        if seen.share(limit) >= MOSTLY:
            return cause
    if seen.late_packets >= max(LEAST_LOSSES, seen.lost_packets):
        return Cause.REORDERING
    if seen.lost_packets >= LEAST_LOSSES:
        return Cause.LOSSES if seen.losses is None else _cause_of_losses(seen, seen.losses)
    if seen.lost_packets:
        return Cause.LOSSES
    if seen.is_slow_start:
        return Cause.SLOW_START
    return Cause.QUEUE if seen.has_queue else Cause.SENDER


def _cause_of_losses(seen: Evidence, at: Losses) -> Cause:
    is_even = (
        at.tokens_range <= EVEN * (seen.acknowledged_bytes or 0)
        and seen.lost_packets >= EVEN_LOSS * seen.sent_packets
        and seen.share("application") <= EVEN_APPLICATION
    )
    is_policed = is_even or at.tokens_spread <= POLICED_SPREAD
    if at.episodes >= POLICED_EPISODES and seen.has_queue is False and is_policed:
        return Cause.POLICER
    if seen.has_queue and at.queue_ns >= max(FULL * (seen.queue_ns or 0.0), seen.least_queue_ns or 0.0):
        return Cause.OVERFLOW
    return Cause.RANDOM if at.rank <= CHANCE_RANK else Cause.LOSSES


def _evidence(row: dict[str, Any], connection: dict[str, Any], events: pl.DataFrame, rtt: pl.DataFrame) -> Evidence:
    if row["acknowledged_bytes"] is None:
        return Evidence()
    lost = row["lost_before_packets"] + row["lost_behind_packets"]
    base = base_rtt_ns(row, connection)
    rate = row["goodput_bps"]
    return Evidence(
        limits_ns(row),
        row["acknowledged_bytes"],
        lost,
        row["wire_packets"],
        row["reordered_packets"] + (row["late_behind_packets"] or 0) + (row["needless_retransmissions"] or 0),
        base,
        losses(row, events, rtt, base) if base is not None and lost >= LEAST_LOSSES else None,
        queueing_ns(rtt),
        8e9 * row["acknowledged_bytes"] / rate / base if rate and base else None,
        INITIAL_WINDOW * max(1, row["mss_bytes"] or row["segment_max_bytes"]),
    )


def base_rtt_ns(row: dict[str, Any], connection: dict[str, Any]) -> float | None:
    """The least RTT of a direction: from the capture to its receiver, and to its sender; None if either is unknown."""
    to_server = row["direction"] == "to-server"
    server, client = connection["handshake_server_ns"], connection["handshake_client_ns"]
    there = _least(row["rtt_min_ns"], server if to_server else client)
    back = _least(row["rtt_back_min_ns"], client if to_server else server)
    return None if there is None or back is None else float(there + back)


def _sides(row: dict[str, Any], connection: dict[str, Any]) -> list[str]:
    """Kinds of `rtt` that tell a queue: of sides of the capture with a part of the path. On others hosts wait."""
    base = base_rtt_ns(row, connection)
    least = {"data": row["rtt_min_ns"], "back": row["rtt_back_min_ns"]}
    return [kind for kind, ns in least.items() if base and ns is not None and ns > LEAST_SIDE * base]


def _least(a: int | None, b: int | None) -> int | None:
    return min((one for one in (a, b) if one is not None), default=None)
