"""Deliveries, transmissions and losses of a transfer, packet by packet, as one end saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dumbbell.captures.capture import Capture
from dumbbell.captures.detail import ASKED, Part, read
from dumbbell.captures.rows import Connection, Direction
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_PACKETS: Final = 2_000_000
"""Packets of a connection that are read, the first ones: about 400 MB of memory."""
LEAST_PACKETS: Final = 30
"""Fewer packets with data tell nothing about a path."""
_SENT_AGAIN: Final = ("fast", "tail-loss-probe", "timeout", "after-timeout", "unknown")
_BACK_NS: Final = 1e6
"""Packets that several CPUs captured are out of order by less."""
_CLOCKS_NS: Final = (10_000_000, 1_000_000, 100_000, 10_000, 1000)
"""Steps of clocks of captures."""
_OTHER: Final = {"to-server": "to-client", "to-client": "to-server"}
_TICKS_PER_S: Final = (1000, 250, 100, 1_000_000)
"""Usual rates of the clocks behind TCP timestamps (RFC 7323 section 5.4)."""


@dataclass(frozen=True)
class Trace:
    """A direction of data, seen from its sender or from its receiver. Times are ns from the capture's first segment."""

    side: str
    """`sender`, `receiver`, or `both`."""
    row: Direction
    about: Connection
    frame_bytes: float
    """Bytes of headers of a packet with data: frame less payload."""
    time_ns: Floats
    """Times at which data was delivered: arrivals at the receiver, ACKs that the sender got."""
    bytes: Floats
    """Frame bytes that each of them delivered."""
    delay_ns: Floats
    """Round trip (sender), or one-way delay with an unknown offset (receiver, both), of the newest packet delivered;
    NaN if it is not known."""
    packets: Floats
    """Packets that each of them delivered."""
    sent_ns: Floats
    """Times of all transmissions, in order. At the receiver, of arrivals and of holes."""
    sent_bytes: Floats
    """Frame bytes of each."""
    lost: Bools
    """True where that transmission was lost."""
    handshake_ns: float | None
    """Round trip of the handshake, seen from this side."""
    floor_ns: Floats
    """Round trips of data, seen from this side, ns."""
    left_out: int
    """Packets beyond `MOST_PACKETS`, which are not read."""
    resolution_ns: float
    """Step of `delay_ns`."""
    acks: Floats
    """Times of ACKs of the data, ns."""
    begins: bool = True
    """True if the begin of the connection was seen, when no packet of its own queued."""
    clock_ns: float = 1.0
    """Step of the capture's times."""
    is_blind: bool = False
    """True if packets were lost and no SACK block tells which: some of the repeats were needless."""
    late_packets: int | None = None
    """Packets that came behind ones sent after them, if both ends tell."""

    @property
    def segment_bytes(self) -> float:
        """Frame bytes of a full packet."""
        return float(self.row["segment_max_bytes"] if not self.row["large_packets"] else 1448) + self.frame_bytes

    @property
    def span_s(self) -> float:
        """Time from the first delivery to the last, s."""
        return float(self.time_ns[-1] - self.time_ns[0]) / 1e9 if len(self.time_ns) else 0.0


def trace(capture: Capture, row: Direction, side: str | None = None) -> Trace:
    """Reads the packets of a direction again. `side` overrides where the capture was taken.

    Raises:
        InputError: the capture was taken in the middle of the path, is one-sided, or has too few packets.
    """
    import polars as pl

    number, name = row["connection"], row["direction"]
    about = capture.about([number])[number]
    _refuse_broken_clock(capture, about)
    side = side or _side(capture, about, row)
    if row["data_packets"] < LEAST_PACKETS:
        raise InputError(
            f"{capture.name}: connection {number} is too short",
            f"it has {row['data_packets']} packets with data, and a path shows in {LEAST_PACKETS} or more",
            "capture a longer transfer, or name another: --connection N",
        )
    found = read(capture, [Part(number, 0, 1 << 62, ASKED)], MOST_PACKETS)
    segments = found.segments.with_columns(pl.col("direction").cast(pl.String), pl.col("class").cast(pl.String))
    data = segments.filter(
        (pl.col("direction") == name) & (pl.col("bytes") > 0) & (pl.col("class") != "keepalive").fill_null(True)
    )
    clock_ns = _clock_step(_floats(segments, "time_ns")) if capture.summary["origin_ns"] % 1000 == 0 else 1.0
    acks = segments.filter((pl.col("direction") == _OTHER[name]) & pl.col("ack").is_not_null())
    events = capture.rows("events", [number]).filter(pl.col("direction").cast(pl.String) == name)
    if side == "sender":
        sacks = found.sacks.filter(pl.col("direction").cast(pl.String) == name)
        # The ACK of a handshake acknowledges no data.
        seen = None if acks.is_empty() else _at_sender(row, about, data, acks, sacks, events, found.left_out, clock_ns)
        if seen is None or not len(seen.time_ns):
            why = "no ACK of its data was captured"
            raise InputError(f"{capture.name}: connection {number} has no ACKs", why, "capture both directions")
        return seen
    back = capture.rows("rtt", [number]).filter(
        (pl.col("direction").cast(pl.String) == name) & (pl.col("kind").cast(pl.String) == "back")
    )
    return _at_receiver(row, about, data, acks, events, back, found.left_out, clock_ns)


def _side(capture: Capture, about: Connection, row: Direction) -> str:
    is_to_server = row["direction"] == "to-server"
    place = about["place"]
    if place in (None, "middle"):
        why = "its place on the path cannot be told" if place is None else "it was taken in the middle of the path"
        raise InputError(
            f"{capture.name}: connection {about['connection']} cannot be fitted",
            f"{why}, and a fit needs the packets as an end saw them",
            "say where it was taken: --at sender, or --at receiver",
        )
    return "sender" if (place == "client") == is_to_server else "receiver"


def _refuse_broken_clock(capture: Capture, about: Connection) -> None:
    """Raises `InputError` if the capture's clock was set back: times across that are wrong.

    Packets of several interfaces may be written out of order by as much, with right times.
    """
    back_ns = capture.summary["notes"]["largest_backward_step_ns"]
    is_one = len(capture.summary.get("interfaces", [])) <= 1
    if about["clock_breaks"] or (is_one and back_ns > _BACK_NS):
        raise InputError(
            f"{capture.name}: connection {about['connection']} cannot be fitted",
            f"the clock of the capture was set back by {back_ns / 1e9:.3g} s, so round trips and rates are wrong",
            "capture again, or cut the file there: editcap -r",
        )


def _clock_step(time_ns: Floats) -> float:
    """The coarsest usual step of a clock that all times keep to, ns."""
    times = time_ns.astype(np.int64)
    first = times[:1000]
    return next((float(step) for step in _CLOCKS_NS if not (first % step).any() and not (times % step).any()), 1.0)


def _floats(frame: pl.DataFrame, column: str) -> Floats:
    return frame[column].cast(float).to_numpy().astype(np.float64)


def _lost(events: pl.DataFrame, is_behind: bool) -> pl.DataFrame:
    """Repairs of lost packets, with the time `lost_ns` at which they were last seen, or a hole was first seen."""
    import polars as pl

    return events.filter(
        pl.col("cause").cast(pl.String).is_in(_SENT_AGAIN)
        & pl.col("needless").is_null()
        & ((pl.col("class").cast(pl.String) == "fill") != is_behind)
        & (pl.col("bytes") > 0)
    ).with_columns(lost_ns=pl.col("time_ns") - pl.col("delay_ns").fill_null(0))


def _header(row: Direction) -> float:
    packets = max(1, row["data_packets"])
    # Frames of data only: pure ACKs of this direction are as long as the headers.
    others = row["packets"] - packets
    headers = (row["frame_bytes"] - row["payload_bytes"]) / max(1, packets + others)
    return float(np.clip(headers, 40.0, 200.0))


def _at_sender(
    row: Direction,
    about: Connection,
    data: pl.DataFrame,
    acks: pl.DataFrame,
    sacks: pl.DataFrame,
    events: pl.DataFrame,
    left_out: int,
    clock_ns: float,
) -> Trace:
    header, mss = _header(row), max(1.0, float(row["mss_bytes"] or row["segment_max_bytes"]))
    sent_ns, seq, size = (_floats(data, name) for name in ("time_ns", "seq", "bytes"))
    end = seq + size
    # Packets in the order of their bytes, the newest copy of each: its send time stands only if it was sent once.
    order = np.lexsort((sent_ns, seq))
    first = np.r_[True, np.diff(seq[order]) > 0]
    index = order[first]
    starts, ends = seq[index], end[index]
    copies = np.diff(np.r_[np.flatnonzero(first), len(order)])
    ack_ns, ack = _floats(acks, "time_ns"), np.maximum.accumulate(_floats(acks, "ack"))
    at = np.searchsorted(ack, ends, "left")
    delivered = np.where(at < len(ack), ack_ns[np.minimum(at, len(ack) - 1)], np.inf)
    paint(delivered, starts, ends, sacks)
    lost = _lost(events, is_behind=True)
    is_blind = sacks.is_empty() and not lost.is_empty()
    if is_blind:
        is_painted = paint_duplicates(delivered, starts, sent_ns[index], copies == 1, ack_ns, ack)
        copies = np.where(is_painted, 2, copies)
    known = np.isfinite(delivered)
    sent = sent_ns[index]
    by = np.argsort(delivered[known], kind="stable")
    when, since = delivered[known][by], np.where(copies[known] == 1, sent[known], np.nan)[by]
    payload = (ends - starts)[known][by]
    parts = np.maximum(1.0, np.ceil(payload / mss))
    groups = np.flatnonzero(np.r_[True, np.diff(when) > 0]) if len(when) else np.zeros(0, dtype=np.int64)
    newest = np.fmax.reduceat(since, groups) if len(groups) else since
    if is_blind and len(groups):
        # What an ACK of a repaired hole covers came before it.
        newest[np.add.reduceat(np.isnan(since), groups) > 0] = np.nan
    is_lost = np.zeros(len(sent_ns), dtype=bool)
    if not lost.is_empty():
        is_lost |= _marked(sent_ns, seq, _floats(lost, "lost_ns"), _floats(lost, "seq"))
    rtt = when[groups] - newest
    is_to_server = row["direction"] == "to-server"
    handshake = about["handshake_server_ns"] if is_to_server else about["handshake_client_ns"]
    return Trace(
        "sender", row, about, header,
        when[groups],
        np.add.reduceat(payload + parts * header, groups) if len(groups) else payload,
        rtt,
        np.add.reduceat(parts, groups) if len(groups) else parts,
        sent_ns, size + np.maximum(1.0, np.ceil(size / mss)) * header, is_lost,
        None if handshake is None else float(handshake),
        rtt[np.isfinite(rtt)], left_out, clock_ns, ack_ns,
        begins=handshake is not None, clock_ns=clock_ns, is_blind=is_blind,
    )  # fmt: skip


def _marked(sent_ns: Floats, seq: Floats, lost_ns: Floats, lost_seq: Floats) -> Bools:
    """True for transmissions that are named by time and first byte."""
    named = set(zip(lost_ns.tolist(), lost_seq.tolist(), strict=True))
    marked = np.isin(sent_ns, lost_ns)
    (at,) = np.nonzero(marked)
    marked[at] = [pair in named for pair in zip(sent_ns[at].tolist(), seq[at].tolist(), strict=True)]
    return marked


def paint(delivered: Floats, starts: Floats, ends: Floats, sacks: pl.DataFrame) -> None:
    """Lower `delivered` to the time of the first SACK block that covers a packet. Each packet is visited once."""
    rows = sacks.unique(["start", "end"], keep="first", maintain_order=True)
    lows = np.searchsorted(starts, _floats(rows, "start"), "left").tolist()
    highs = np.searchsorted(ends, _floats(rows, "end"), "right").tolist()
    following = list(range(len(starts) + 1))
    times = delivered.tolist()

    def unpainted(at: int) -> int:
        root = at
        while following[root] != root:
            root = following[root]
        while following[at] != root:
            following[at], at = root, following[at]
        return root

    for time, low, high in zip(_floats(rows, "time_ns").tolist(), lows, highs, strict=True):
        at = unpainted(low)
        while at < high:
            times[at] = min(times[at], time)
            at += 1
            following[at - 1] = at
            if following[at] != at:
                at = unpainted(at)
    delivered[:] = times


def paint_duplicates(
    delivered: Floats, starts: Floats, sent_ns: Floats, is_once: Bools, ack_ns: Floats, ack: Floats
) -> Bools:
    """Lower `delivered` to the times of duplicate ACKs: without SACK, each tells that a packet behind a hole came.

    Returns true for the packets that are taken for these: the first ones that were sent once. Repeats cause duplicate
    ACKs, too, so others may have come.
    """
    is_painted = np.zeros(len(starts), dtype=bool)
    is_same = np.r_[False, np.diff(ack) == 0]
    holes = np.searchsorted(starts, ack)
    at_hole = np.minimum(holes, len(starts) - 1)
    is_hole = (holes < len(starts)) & (starts[at_hole] == ack) & ~is_once[at_hole]
    following = 0
    for time, hole in zip(ack_ns[is_same & is_hole].tolist(), holes[is_same & is_hole].tolist(), strict=True):
        following = max(following, hole + 1)
        while following < len(starts) and not is_once[following]:
            following += 1
        if following < len(starts) and sent_ns[following] < time:
            delivered[following] = min(delivered[following], time)
            is_painted[following] = True
            following += 1
    return is_painted


def _at_receiver(
    row: Direction,
    about: Connection,
    data: pl.DataFrame,
    acks: pl.DataFrame,
    events: pl.DataFrame,
    back: pl.DataFrame,
    left_out: int,
    clock_ns: float,
) -> Trace:
    header, mss = _header(row), max(1.0, float(row["mss_bytes"] or row["segment_max_bytes"]))
    time_ns, size = _floats(data, "time_ns"), _floats(data, "bytes")
    parts = np.maximum(1.0, np.ceil(size / mss))
    whole = size + parts * header
    delay, step = _one_way(time_ns, _floats(data, "tsval"))
    lost = _lost(events, is_behind=False)
    # A hole shows when the first packet beyond it arrives.
    beyond = np.maximum.accumulate(_floats(data, "seq") + size)
    at = np.minimum(np.searchsorted(beyond, _floats(lost, "seq"), "right"), len(time_ns) - 1)
    holes, missing = time_ns[at], _floats(lost, "bytes")
    order = np.argsort(np.r_[time_ns, holes - 0.5], kind="stable")
    is_to_server = row["direction"] == "to-server"
    handshake = about["handshake_client_ns"] if is_to_server else about["handshake_server_ns"]
    return Trace(
        "receiver", row, about, header, time_ns, whole, delay, parts,
        np.r_[time_ns, holes][order],
        np.r_[whole, missing + np.maximum(1.0, np.ceil(missing / mss)) * header][order],
        np.r_[np.zeros(len(time_ns), dtype=bool), np.ones(len(holes), dtype=bool)][order],
        None if handshake is None else float(handshake),
        _floats(back, "rtt_ns"), left_out, max(step, clock_ns), _floats(acks, "time_ns"),
        begins=handshake is not None, clock_ns=clock_ns,
    )  # fmt: skip


def _one_way(time_ns: Floats, tsval: Floats) -> tuple[Floats, float]:
    """One-way delay of each packet by its timestamp, with an unknown offset, and the clock's step; NaN without one."""
    known = np.isfinite(tsval)
    none = np.full(len(time_ns), np.nan)
    if known.sum() < LEAST_PACKETS:
        return none, np.nan
    ticks = np.unwrap(tsval[known], period=2.0**32)
    passed_s = (time_ns[known][-1] - time_ns[known][0]) / 1e9
    if passed_s <= 0 or ticks[-1] <= ticks[0]:
        return none, np.nan
    rate = (ticks[-1] - ticks[0]) / passed_s
    per_s = min(_TICKS_PER_S, key=lambda one: abs(np.log(one / rate)))
    if not 0.9 < rate / per_s < 1.1:
        return none, np.nan
    none[known] = time_ns[known] - ticks * (1e9 / per_s)
    return none, 1e9 / per_s
