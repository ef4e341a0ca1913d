"""Results of `iperf3 --json`, of the side that wrote them.

At the sender an interval counts bytes that were written to the socket, and has the smoothed RTT, cwnd and the
receiver's window at its end; at the receiver it counts bytes that arrived. Fields are those of iperf 3.1 and later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dumbbell.errors import InputError
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs.algorithms import known
from dumbbell.fitting.logs.document import number, parsed, rows, table, word
from dumbbell.fitting.logs.sampled import fit_samples
from dumbbell.fitting.logs.samples import Samples
from dumbbell.fitting.trace import Floats

SOURCE: Final = "iperf3 log"
_BLOCK: Final = 131_072
"""Bytes that iperf3 writes at a time over TCP by default."""
_EXPAND: Final = 2.0
"""Factor by which a socket's buffer exceeds cwnd (`tcp_sndbuf_expand` in Linux)."""
_FRAME: Final = 1514
_HEADERS: Final = (54, 150)
"""Bytes of headers of a full frame with a usual MSS."""
_WINDOW: Final = 0.85
"""Share of the receiver's window in flight from which on it limits."""
_TARGET: Final = 0.95
"""Share of a bitrate that the user asked for, from which on it limits."""
_FORM: Final = re.compile(rb'\A\s*\{\s*"(?:title|start)"\s*:')


def is_form(head: bytes) -> bool:
    """Returns true for the document that iperf3 writes."""
    return _FORM.match(head) is not None and b'"qlog' not in head


def fit(text: str, name: str, connection: str | None) -> Fit:
    """Fits a path to a test's results. Raises `InputError`."""
    document = table(parsed(text, name))
    start, end = table(document.get("start")), table(document.get("end"))
    if error := word(document.get("error")):
        raise InputError(f"{name}: iperf3 failed", error, "repeat the test")
    if word(table(start.get("test_start")).get("protocol")).upper() not in ("", "TCP"):
        why = "it is a test of UDP, whose rate the user chose"
        raise InputError(f"{name} shows no transfer of TCP", why, "leave out -u")
    streams = _streams(document)
    if not streams:
        raise InputError(f"{name} has no intervals", "iperf3 wrote none", "repeat the test: iperf3 --json")
    chosen = _chosen(streams, connection, name)
    return fit_samples(_samples(name, start, end, streams[chosen], chosen))


def _streams(document: Mapping[str, Any]) -> dict[int, list[Mapping[str, Any]]]:
    """Intervals of each stream, by the number of its socket, without those that the user left out (-O)."""
    streams: dict[int, list[Mapping[str, Any]]] = {}
    for interval in rows(document.get("intervals")):
        for one in rows(interval.get("streams")):
            socket, times = number(one.get("socket")), (number(one.get("start")), number(one.get("end")))
            is_whole = np.isfinite([socket, *times, number(one.get("bytes"))]).all() and times[0] < times[1]
            if is_whole and one.get("omitted") is not True:
                streams.setdefault(int(socket), []).append(one)
    return streams


def _chosen(streams: Mapping[int, list[Mapping[str, Any]]], connection: str | None, name: str) -> int:
    if connection is None:
        return max(streams, key=lambda socket: sum(number(one["bytes"]) for one in streams[socket]))
    if not connection.isdecimal() or len(connection) > 9 or int(connection) not in streams:
        sockets = ", ".join(str(socket) for socket in list(streams)[:20])
        raise InputError(f"{name} has no stream {connection}", f"it has {sockets}", "--connection names one of them")
    return int(connection)


def _samples(
    name: str, start: Mapping[str, Any], end: Mapping[str, Any], intervals: list[Mapping[str, Any]], socket: int
) -> Samples:
    def column(key: str) -> Floats:
        return np.array([number(one.get(key)) for one in intervals])

    rtt, cwnd, window = column("rtt") * 1e3, column("snd_cwnd"), column("snd_wnd")
    is_sender = bool((np.nan_to_num(rtt) > 0).any())
    mss = number(start.get("tcp_mss")) if not start.get("tcp_mss_default") else number(start.get("tcp_mss_default"))
    mss = mss if 500 <= mss <= 9000 else 1448.0
    begin, finish, passed = column("start"), column("end"), column("bytes")
    order = np.argsort(begin, kind="stable")
    rates = passed * 8 / (finish - begin)
    held = np.nan_to_num(rates * rtt / 8e9 >= _WINDOW * window).astype(bool) & (np.nan_to_num(window) > 0)
    target = number(table(start.get("test_start")).get("target_bitrate"))
    target = target if target > 0 else number(start.get("target_bitrate"))
    paced = np.nan_to_num(rates >= _TARGET * target).astype(bool) if target > 0 else np.zeros(len(rates), dtype=bool)
    limits = {
        "window": float(held.mean()),
        "application": float((paced & ~held).mean()),
        "network": float((~held & ~paced).mean()),
    }
    # Linux lets a socket hold twice the largest cwnd so far: what only filled that did not pass.
    held_back = _EXPAND * np.diff(np.maximum.accumulate(np.nan_to_num(cwnd[order])), prepend=0.0)
    passed_on = np.maximum(0.0, passed[order] - (held_back if is_sender else 0.0))
    header = _FRAME - mss if _HEADERS[0] <= _FRAME - mss <= _HEADERS[1] else 66.0
    return Samples(
        name, SOURCE, "sender" if is_sender else "receiver", socket,
        begin[order], finish[order], passed_on,
        np.where(rtt > 0, rtt, np.nan)[order],
        column("retransmits")[order] if is_sender else np.full(len(rates), np.nan),
        (held | paced)[order],
        mss, header, 2.0 * _BLOCK if is_sender else 0.0,
        window=_window(window, is_sender),
        limits=limits if is_sender else {},
        cc=known(word(end.get("sender_tcp_congestion"))),
    )  # fmt: skip


def _window(window: Floats, is_sender: bool) -> Estimate:
    sizes = window[np.nan_to_num(window) > 0]
    if not is_sender:
        return unknown("the receiver wrote this log, and only a sender's has the window")
    if not len(sizes):
        return unknown("this version of iperf3, or of its kernel, does not log it")
    largest = float(sizes.max())
    return Estimate(largest, largest, largest, f"largest of {len(sizes)} samples")
