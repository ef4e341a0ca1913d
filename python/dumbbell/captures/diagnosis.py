"""Finds what holds a direction of a captured connection back: the first rule that holds. All thresholds are here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from math import log
from typing import Final, cast

import polars as pl

from dumbbell.captures.capture import Capture
from dumbbell.captures.directions import limits_ns
from dumbbell.captures.losses import Losses, losses
from dumbbell.captures.rates import passed_bps, queueing_ns, rate_with_queue_bps, rates_bps
from dumbbell.captures.rows import Connection, Direction
from dumbbell.frozen import dataclass

MOSTLY: Final = 0.5
"""Share of the time for which window or application must limit to be the cause."""
LEAST_LOSSES: Final = 3
"""Fewer lost packets, or late ones, tell nothing about why."""
QUEUE_SHARE: Final = 0.05
"""A queue delays packets by more than this share of the base RTT,"""
QUEUE_NS: Final = 200_000.0
"""and by more than this, which hosts take."""
LEAST_SIDE: Final = 0.1
"""Share of the base RTT between capture and an end above which delays on that side are those of the path."""
FULL: Final = 0.8
"""A queue that overflows delays packets by this share of its usual most, the 95th percentile, or more."""
LONG_QUEUE: Final = 0.2
"""And by this share of the base RTT,"""
NEAR_LONGEST: Final = 0.5
"""or by this share of the longest delay: a buffer that is full delays all packets alike."""
CHANCE_RANK: Final = 0.8
"""A loss by chance finds the queue longer than in half of the time, on average, and in this share at most."""
CHANCE_DEVIATION: Final = 0.29
"""Standard deviation of the rank of a loss by chance: what two of them, over the root of the episodes, don't explain
is no chance,"""
SURE_RANK: Final = 0.9
"""nor is this rank."""
LEAST_EPISODES: Final = 5
"""Fewer tell nothing about chance."""
START_NS: Final = 1e9
"""Losses that all come so early are those of slow start, if as much time passes again without one."""
AT_RATE: Final = 0.9
"""A bottleneck is full if this share of its rate passed, at the upper quartile of seconds."""
SYN_TIMEOUT_NS: Final = 1e9
"""A SYN is sent again if no answer came for so long (RFC 6298)."""
LATE_SHARE: Final = 0.01
"""Lost ACKs let packets seem late behind the capture: fewer of them tell no reordering."""
POLICED_EPISODES: Final = 4
POLICED_LOSS: Final = 0.01
"""A short buffer that overflows in a steady rhythm loses a smaller share of the packets."""
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
    """Cause that holds a direction back."""

    SHORT = "too short to judge"
    UNKNOWN = "can't be told"
    WINDOW = "receive window"
    APPLICATION = "application"
    REORDERING = "reordering"
    RANDOM = "random loss or short buffer"
    OVERFLOW = "queue overflow"
    START = "queue overflow in slow start"
    POLICER = "policer"
    LOSSES = "losses"
    SLOW_START = "slow start"
    QUEUE = "bottleneck queue"
    SENDER = "congestion window"


@dataclass(frozen=True)
class Evidence:
    """Evidence why a direction was not faster. None if it is not known."""

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
    queue_rate_bps: float | None = None
    """Rate of frames while a queue stood, bit/s; None if none stood for long."""
    passed_bps: float | None = None
    """Rate of frames in a second at the upper quartile, bit/s; None of a shorter time."""
    end_ns: float = 0.0
    """Length of the direction."""
    is_flight_seen: bool = True
    """Whether the capture is at the sender, where what is in flight is seen."""
    syn_repeats: int = 0
    """SYNs that were sent again."""
    marks: dict[str, int] = field(default_factory=dict)
    """Packets of ECN after the handshake, that the capture saw: CE and CWR of data, and ECE of its ACKs."""

    def share(self, limit: str) -> float:
        """Share of the time under a limit."""
        return self.limits_ns[limit] / max(1, sum(self.limits_ns.values()))

    @property
    def least_queue_ns(self) -> float | None:
        """Delay that tells a queue."""
        return least_queue_ns(self.base_rtt_ns)

    @property
    def has_queue(self) -> bool | None:
        """Whether packets waited in a queue; None if it is not known."""
        least = self.least_queue_ns
        return None if self.queue_ns is None or least is None else self.queue_ns > least

    @property
    def is_full(self) -> bool:
        """Whether the bottleneck carried what it can for long: as much passed as while a queue stood."""
        rate = self.queue_rate_bps
        if rate is None or self.passed_bps is None:
            return rate is not None
        # More than while a queue stood: the delays were pauses of the sender, or the rate changed.
        return AT_RATE * rate <= self.passed_bps <= rate / AT_RATE

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
    """Cause that holds a direction back, and rate of the bottleneck."""

    cause: Cause
    seen: Evidence
    bottleneck_bps: float | None = None
    """Rate of this connection at the bottleneck, as frames with data; None if it cannot be told."""
    passed_bps: float | None = None
    """Rate of frames in a second, bit/s, which the bottleneck carries at least; None of a shorter time."""


def diagnose(capture: Capture, directions: Sequence[Direction]) -> list[Diagnosis]:
    """A diagnosis of each of some rows of `directions`."""
    numbers = {row["connection"] for row in directions}
    about = capture.about(numbers)
    tables = [capture.rows(name, numbers) for name in ("events", "rtt", "intervals")]
    width_ns = int(capture.summary["interval_ns"])
    others = {"to-server": "to-client", "to-client": "to-server"}
    acks = {
        (one["connection"], others[str(one["direction"])]): cast(Direction, one)
        for one in capture.rows("directions", numbers).to_dicts()
    }
    found = []
    for row in directions:
        mine = (pl.col("connection") == row["connection"]) & (pl.col("direction").cast(pl.String) == row["direction"])
        events, rtt, intervals = (table.filter(mine) for table in tables)
        rtt = rtt.filter(pl.col("kind").cast(pl.String).is_in(_sides(row, about[row["connection"]])))
        back = acks.get((row["connection"], row["direction"]))
        seen = _evidence(row, back, about[row["connection"]], (events, rtt, intervals), width_ns)
        cause = cause_of(seen)
        bottleneck = None
        if cause is Cause.POLICER and seen.losses is not None:
            bottleneck = seen.losses.rate_bps * row["frame_bytes"] / row["payload_bytes"]
        elif cause not in _UNFILLED:
            bottleneck = seen.queue_rate_bps
        found.append(Diagnosis(cause, seen, bottleneck, seen.passed_bps))
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
    if seen.late_packets >= max(LEAST_LOSSES, seen.lost_packets, LATE_SHARE * seen.sent_packets):
        return Cause.REORDERING
    if seen.lost_packets >= LEAST_LOSSES:
        return Cause.LOSSES if seen.losses is None else _cause_of_losses(seen, seen.losses)
    if seen.lost_packets:
        return Cause.LOSSES
    if seen.is_slow_start and not seen.is_full:
        return Cause.SLOW_START
    if seen.has_queue is False:
        return Cause.SENDER
    return Cause.QUEUE if seen.has_queue and seen.is_full else Cause.UNKNOWN


def _cause_of_losses(seen: Evidence, at: Losses) -> Cause:
    is_even = (
        at.tokens_range <= EVEN * (seen.acknowledged_bytes or 0)
        and seen.lost_packets >= EVEN_LOSS * seen.sent_packets
        and seen.share("application") <= EVEN_APPLICATION
    )
    is_heavy = seen.lost_packets >= POLICED_LOSS * seen.sent_packets
    is_policed = is_even or (is_heavy and at.tokens_spread <= POLICED_SPREAD)
    if at.episodes >= POLICED_EPISODES and seen.has_queue is False and is_policed:
        return Cause.POLICER
    base = seen.base_rtt_ns or 0.0
    is_long = at.queue_ns >= min(LONG_QUEUE * base, NEAR_LONGEST * at.longest_ns)
    is_high = at.queue_ns >= max(FULL * (seen.queue_ns or 0.0), seen.least_queue_ns or 0.0)
    chance = min(SURE_RANK, 0.5 + 2 * CHANCE_DEVIATION / at.episodes**0.5)
    if seen.has_queue and is_high and is_long and at.rank >= chance:
        is_early = at.last_ns <= START_NS and seen.end_ns >= at.last_ns + START_NS
        return Cause.START if is_early else Cause.OVERFLOW
    # Before the capture RTTs of packets that were lost, or waited beside them, are not seen.
    is_without_queue = min(at.at_base_share, at.at_base_packets_share) > MOSTLY
    is_random = at.is_behind and at.rank <= CHANCE_RANK and is_without_queue and at.episodes >= LEAST_EPISODES
    return Cause.RANDOM if is_random and not is_policed and not seen.is_full else Cause.LOSSES


def _evidence(
    row: Direction,
    acks: Direction | None,
    connection: Connection,
    tables: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame],
    width_ns: int,
) -> Evidence:
    """Evidence of a row of `directions`, from its `events`, `rtt` and `intervals`; `acks` is the other direction."""
    marks = _marks(row, acks)
    if row["acknowledged_bytes"] is None:
        return Evidence(syn_repeats=connection["syn_repeats"], marks=marks)
    events, rtt, intervals = tables
    lost = (row["lost_before_packets"] or 0) + (row["lost_behind_packets"] or 0)
    base = base_rtt_ns(row, connection)
    least = least_queue_ns(base)
    rate = row["goodput_bps"]
    queue = queueing_ns(rtt)
    queue_rate = None
    if queue is not None and least is not None and queue > least:
        rates = rates_bps(row, intervals, width_ns)
        queue_rate = rate_with_queue_bps(rates, intervals, rtt, least, width_ns)
    return Evidence(
        limits_ns(row),
        row["acknowledged_bytes"],
        lost,
        row["wire_packets"],
        (row["reordered_packets"] or 0) + (row["late_behind_packets"] or 0) + (row["needless_retransmissions"] or 0),
        base,
        losses(row, events, rtt, base, least) if base and least and lost >= LEAST_LOSSES else None,
        queue,
        8e9 * row["acknowledged_bytes"] / rate / base if rate and base else None,
        INITIAL_WINDOW * max(1, row["mss_bytes"] or row["segment_max_bytes"]),
        queue_rate,
        passed_bps(row, intervals, width_ns),
        float((row["end_ns"] or 0) - (row["start_ns"] or 0)),
        connection["place"] == ("client" if row["direction"] == "to-server" else "server"),
        connection["syn_repeats"],
        marks,
    )


def _marks(row: Direction, acks: Direction | None) -> dict[str, int]:
    """Packets of ECN: the client's SYN carries ECE and CWR, the server's ECE, and these mark nothing."""
    ece = 0 if acks is None else acks["ece_packets"] - min(acks["syns"], acks["ece_packets"])
    is_client = row["direction"] == "to-server"
    cwr = row["cwr_packets"] - (min(row["syns"], row["cwr_packets"]) if is_client else 0)
    return {"CE": row["ce_packets"], "ECE": ece, "CWR": cwr}


def least_queue_ns(base_rtt_ns: float | None) -> float | None:
    """Delay that tells a queue."""
    return None if base_rtt_ns is None else max(QUEUE_SHARE * base_rtt_ns, QUEUE_NS)


def base_rtt_ns(row: Direction, connection: Connection) -> float | None:
    """The least RTT of a direction: from the capture to its receiver, and to its sender; None if either is unknown."""
    to_server = row["direction"] == "to-server"
    server, client = connection["handshake_server_ns"], connection["handshake_client_ns"]
    there = _least(row["rtt_min_ns"], server if to_server else client)
    back = _least(row["rtt_back_min_ns"], client if to_server else server)
    return None if there is None or back is None else float(there + back)


def _sides(row: Direction, connection: Connection) -> list[str]:
    """Kinds of `rtt` that tell a queue: of sides of the capture with a part of the path. On others hosts wait."""
    base = base_rtt_ns(row, connection)
    least = {"data": row["rtt_min_ns"], "back": row["rtt_back_min_ns"]}
    return [kind for kind, ns in least.items() if base and ns is not None and ns > LEAST_SIDE * base]


def _least(a: int | None, b: int | None) -> int | None:
    return min((one for one in (a, b) if one is not None), default=None)
