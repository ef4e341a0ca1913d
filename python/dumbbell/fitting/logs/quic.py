"""Packets of a QUIC connection as its sender logged them: when each was sent, acknowledged or lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np

from dumbbell.captures.diagnosis import MOSTLY, Cause, Diagnosis, Evidence
from dumbbell.captures.rows import Connection, Direction
from dumbbell.errors import InputError
from dumbbell.fitting.estimate import unknown
from dumbbell.fitting.fitted import Fit, fit_trace
from dumbbell.fitting.logs.document import number, rows, table, word
from dumbbell.fitting.trace import LEAST_PACKETS, MOST_PACKETS, Floats, Trace, paint

_FIRST: Final = 100
"""A log whose first packet has a number below this begins with the connection."""
_HEADERS: Final = 42.0
"""Bytes of Ethernet, IPv4 and UDP."""
_SPACE: Final = ("", "1RTT", "1rtt", "0RTT", "0rtt", "application_data")
"""Types of packets, and names of their space, that have the numbers of application data."""
_SILENT: Final = ("ack", "padding", "connection_close")
"""Frames that no ACK follows (RFC 9002 section 2)."""
MOST_RANGES: Final = 4 * MOST_PACKETS
"""Ranges of acknowledged packets that are read: each takes some 200 bytes."""
_MS: Final = 1e6
"""Nanoseconds."""


@dataclass
class Log:
    """Events of a connection. Times are ns from the first one."""

    sent: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Time and bytes of each packet that asks for an ACK, by its number."""
    acked: list[tuple[float, int, int]] = field(default_factory=list)
    """Time, first number and last number of ranges that were acknowledged."""
    ack_delay_ns: dict[float, float] = field(default_factory=dict)
    """Delay of the ACK that came at a time, as its sender says."""
    lost: dict[int, float] = field(default_factory=dict)
    blocked_ns: float = 0.0
    """Time for which the receiver's flow control held the sender back."""
    limited_ns: float = 0.0
    """Time for which the sender says that its application limited it."""
    left_out: int = 0


def read(events: Iterable[tuple[float, str, Mapping[str, Any]]]) -> Log:
    """Reads the events of a connection: time in ms, name and data."""
    log = Log()
    blocked, limited, time = None, None, 0.0
    for ms, name, data in events:
        time = ms * _MS
        if name == "packet_sent":
            _sent(log, time, data)
            if blocked is None and _has(data, "data_blocked", "stream_data_blocked"):
                blocked = time
        elif name == "packet_received":
            _received(log, time, data)
            if blocked is not None and _has(data, "max_data", "max_stream_data"):
                log.blocked_ns += time - blocked
                blocked = None
        elif name == "packets_acked" and word(data.get("packet_number_space")) in _SPACE:
            numbers = data.get("packet_numbers")
            for one in numbers if isinstance(numbers, list) else ():
                _acknowledge(log, time, one, one)
        elif name == "packet_lost" and word(table(data.get("header")).get("packet_type")) in _SPACE:
            at = number(table(data.get("header")).get("packet_number", data.get("packet_number")))
            if np.isfinite(at):
                log.lost[int(at)] = time
        elif name == "congestion_state_updated":
            is_limited = word(data.get("new")) == "application_limited"
            if limited is not None and not is_limited:
                log.limited_ns += time - limited
            limited = (time if limited is None else limited) if is_limited else None
    log.limited_ns += time - limited if limited is not None else 0.0
    log.blocked_ns += time - blocked if blocked is not None else 0.0
    return log


def _frames(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return rows(data.get("frames"))


def _has(data: Mapping[str, Any], *types: str) -> bool:
    return any(word(frame.get("frame_type")) in types for frame in _frames(data))


def _sent(log: Log, time: float, data: Mapping[str, Any]) -> None:
    header = table(data.get("header"))
    at = number(header.get("packet_number"))
    size = number(table(data.get("raw")).get("length", header.get("packet_size")))
    frames = _frames(data)
    is_silent = bool(frames) and all(word(frame.get("frame_type")) in _SILENT for frame in frames)
    if word(header.get("packet_type")) not in _SPACE or is_silent or not (np.isfinite(at) and 0 < size < 65_536):
        return
    if len(log.sent) >= MOST_PACKETS:
        log.left_out += 1
        return
    log.sent.setdefault(int(at), (time, size))


def _received(log: Log, time: float, data: Mapping[str, Any]) -> None:
    if word(table(data.get("header")).get("packet_type")) not in _SPACE:
        return
    for frame in _frames(data):
        if word(frame.get("frame_type")) != "ack":
            continue
        delay = number(frame.get("ack_delay"))
        log.ack_delay_ns[time] = delay * _MS if delay < 1e5 else 0.0
        ranges = frame.get("acked_ranges")
        for one in ranges if isinstance(ranges, list) else ():
            ends = one if isinstance(one, list) else [one]
            if 1 <= len(ends) <= 2:
                _acknowledge(log, time, ends[0], ends[-1])


def _acknowledge(log: Log, time: float, first: object, last: object) -> None:
    low, high = number(first), number(last)
    if len(log.acked) >= MOST_RANGES:
        why = f"it has more than {MOST_RANGES:,} ranges of acknowledged packets"
        raise InputError("the log is too long", why, "take a shorter log")
    if low <= high:
        log.acked.append((time, int(low), int(high)))


def fit(log: Log, name: str, connection: int, source: str) -> Fit:
    """Fits a path to the packets. Raises `InputError` if too few were acknowledged."""
    numbers = np.array(sorted(log.sent), dtype=np.float64)
    if len(numbers) < LEAST_PACKETS:
        why = f"it sent {len(numbers)} packets that ask for an ACK, and a path shows in {LEAST_PACKETS} or more"
        raise InputError(f"{name} is too short", why, "log the side that sends the data, for longer")
    sent_ns, size = (np.array([log.sent[int(at)][part] for at in numbers]) for part in (0, 1))
    delivered = _delivered(log, numbers)
    trace = _trace(log, numbers, sent_ns, size, delivered, connection)
    if trace is None:
        why = "no event says which of them were acknowledged"
        raise InputError(f"{name} has no ACKs", why, "log packet_received with its frames, or packets_acked")
    span = max(1.0, float(trace.time_ns[-1] - sent_ns[0]))
    limits = _limits(log, span, sent_ns, np.where(np.isfinite(delivered), delivered, _lost_ns(log, numbers)))
    cause = next(
        (cause for limit, cause in (("window", Cause.WINDOW), ("application", Cause.APPLICATION))
         if limits[limit] >= MOSTLY * span),
        Cause.UNKNOWN,
    )  # fmt: skip
    diagnosis = Diagnosis(cause, Evidence({key: int(ns) for key, ns in limits.items()}))
    why = "QUIC limits what is sent in all, not what is in flight"
    fitted = fit_trace(name, trace, diagnosis, unknown(why))
    return _without_batches(replace(fitted, transfer=replace(fitted.transfer, source=source)))


def _without_batches(fit: Fit) -> Fit:
    """The fit without a capacity that only packets close together show: a program logs them when it reads them."""
    if not fit.is_shared:
        return fit
    why = "packets came faster than they passed on average: others send, or the program read them in batches"
    available, buffer = fit.rate.available, fit.losses.buffer
    if buffer.is_identifiable:
        buffer = unknown("the capacity is not known", buffer.low)
    capacity = unknown(why, available.low)
    return replace(fit, rate=replace(fit.rate, capacity=capacity), losses=replace(fit.losses, buffer=buffer))


def _delivered(log: Log, numbers: Floats) -> Floats:
    """Time of the first ACK of each packet; infinite without one."""
    import polars as pl

    delivered = np.full(len(numbers), np.inf)
    ranges = pl.DataFrame(log.acked, schema=["time_ns", "start", "end"], orient="row").with_columns(pl.col("end") + 1)
    paint(delivered, numbers, numbers + 1, ranges)
    return delivered


def _lost_ns(log: Log, numbers: Floats) -> Floats:
    return np.array([log.lost.get(int(at), np.inf) for at in numbers])


def _trace(
    log: Log, numbers: Floats, sent_ns: Floats, size: Floats, delivered: Floats, connection: int
) -> Trace | None:
    is_acked = np.isfinite(delivered)
    if is_acked.sum() < LEAST_PACKETS // 2:
        return None
    order = np.argsort(delivered[is_acked], kind="stable")
    when, sent, bytes_ = delivered[is_acked][order], sent_ns[is_acked][order], size[is_acked][order]
    groups = np.flatnonzero(np.r_[True, np.diff(when) > 0])
    newest = np.maximum.reduceat(sent, groups)
    host = np.array([log.ack_delay_ns.get(float(time), 0.0) for time in when[groups]])
    rtt = when[groups] - newest
    # An ACK may say that it waited for longer than the whole round trip.
    rtt = np.where(host < rtt, rtt - host, rtt)
    least_after = np.minimum.accumulate(np.r_[delivered[1:], np.inf][::-1])[::-1]
    late = int((is_acked & (least_after < delivered)).sum())
    lost = np.array([int(at) in log.lost for at in numbers]) & ~is_acked
    acked_bytes = float(size[is_acked].sum())
    span = max(1.0, float(when[-1] - sent_ns[0]))
    row: dict[str, Any] = {
        "connection": connection,
        "direction": "to-server",
        "acknowledged_bytes": int(acked_bytes),
        "goodput_bps": acked_bytes * 8e9 / span,
        "segment_max_bytes": float(np.quantile(size, 0.9)),
        "large_packets": 0,
        "data_packets": len(numbers),
        "late_behind_packets": late,
    }
    return Trace(
        "sender", cast(Direction, row), cast(Connection, {}), _HEADERS,
        when[groups],
        np.add.reduceat(bytes_ + _HEADERS, groups),
        rtt,
        np.diff(np.r_[groups, len(when)]).astype(np.float64),
        sent_ns, size + _HEADERS, lost, None, rtt, log.left_out, 1.0,
        np.array(sorted(log.ack_delay_ns)) if log.ack_delay_ns else when[groups],
        late_packets=late, begins=bool(numbers[0] < _FIRST),
    )  # fmt: skip


def _limits(log: Log, span: float, sent_ns: Floats, gone_ns: Floats) -> dict[str, float]:
    """Time under each limit, ns: nothing was in flight, or the sender says so."""
    is_gone = np.isfinite(gone_ns)
    times = np.r_[sent_ns, gone_ns[is_gone]]
    order = np.argsort(times, kind="stable")
    flight = np.cumsum(np.r_[np.ones(len(sent_ns)), -np.ones(int(is_gone.sum()))][order])
    idle = float(np.diff(times[order])[flight[:-1] <= 0].sum())
    window = min(span, log.blocked_ns)
    application = min(span - window, max(idle, log.limited_ns))
    return {"window": window, "application": application, "recovery": 0.0, "network": span - window - application}
