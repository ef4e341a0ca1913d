"""A transfer as both of its ends saw it: one-way delays without steps, and losses that are known, not inferred."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np
import polars as pl

from dumbbell.captures.capture import Capture
from dumbbell.captures.clocks import Clocks
from dumbbell.captures.pairs import Between, between, common
from dumbbell.captures.rows import Direction
from dumbbell.errors import InputError
from dumbbell.fitting.queue import without_timers
from dumbbell.fitting.trace import Floats, Trace, trace

_ENDS: Final = ("sender", "receiver")


def trace_both(first: Capture, second: Capture, row: Direction) -> tuple[Capture, Direction, Trace]:
    """Reads a direction of data in captures of both ends, in any order; `row` is of the first.

    Returns:
        The capture of the sender, its row of the direction, and the trace: times of the sender's clock.

    Raises:
        InputError: the captures have no packet in common, or are not of both ends.
    """
    number, name = row["connection"], row["direction"]
    found = between(first, second, [number])
    other = common(first, second)[number]
    rows = {"first": row, "second": _row(second, other, name)}
    is_first = found.first_is_nearer == (name == "to-server")
    sender, receiver = (first, second) if is_first else (second, first)
    sent_row, got_row = (rows[one] for one in (("first", "second") if is_first else ("second", "first")))
    traces = []
    for end, capture, one in zip(_ENDS, (sender, receiver), (sent_row, got_row), strict=True):
        seen = trace(capture, one)
        if seen.side != end:
            raise InputError(
                f"{first.name} and {second.name} are not of both ends",
                f"{capture.name} was taken at the {seen.side}, as the other was",
                "name one capture of the sender, and one of the receiver",
            )
        traces.append(seen)
    at_sender, at_receiver = traces
    return sender, sent_row, _joined(at_sender, at_receiver, sent_row, found, name, is_first, _shifts(first, second))


def _row(capture: Capture, number: int, name: str) -> Direction:
    rows = capture.rows("directions", [number]).filter(pl.col("direction").cast(pl.String) == name).to_dicts()
    if not rows:
        raise InputError(f"{capture.name} lacks data of the connection", "it has none of that direction", "name others")
    return cast(Direction, rows[0])


def _shifts(first: Capture, second: Capture) -> dict[bool, float]:
    """Origin of each capture's times, ns after that of the first; True is the first."""
    return {True: 0.0, False: float(second.summary["origin_ns"] - first.summary["origin_ns"])}


def _joined(
    at_sender: Trace,
    at_receiver: Trace,
    row: Direction,
    between: Between,
    name: str,
    is_first: bool,
    shifts: dict[bool, float],
) -> Trace:
    pairs = between.pairs.filter((pl.col("direction") == name) & pl.col("is_data"))
    columns = ("first_ns", "second_ns") if is_first else ("second_ns", "first_ns")
    sent = pairs.filter(pl.col(columns[0]).is_not_null()).sort(columns[0], maintain_order=True)
    both = sent.filter(pl.col("fate") == "delivered").sort(columns[1], maintain_order=True)
    # Packets behind the last one that came were on their way when a capture ended.
    ways = sent["fate"] == "delivered"
    sent = sent.head(ways.len() - (ways.reverse().arg_max() or 0))
    sent_ns, got_ns = (both[one].to_numpy().astype(np.float64) for one in columns)
    arrived = at_receiver.time_ns + shifts[not is_first]
    # Several packets may have come as one: the last of them is its newest.
    at = np.searchsorted(got_ns, arrived, "right") - 1
    is_known = (at >= 0) & (got_ns[np.maximum(at, 0)] == arrived) if len(got_ns) else np.zeros(len(arrived), dtype=bool)
    by_sender = np.maximum.accumulate(_by_sender(arrived, between.clocks, is_first))
    delay = np.full(len(arrived), np.nan)
    delay[is_known] = by_sender[is_known] - sent_ns[at[is_known]]
    floor = without_timers(at_sender)
    whole: Trace = replace(
        at_sender,
        side="both",
        time_ns=by_sender,
        bytes=at_receiver.bytes,
        packets=at_receiver.packets,
        delay_ns=delay,
        sent_ns=at_sender.sent_ns + shifts[is_first],
        floor_ns=floor[np.isfinite(floor)],
        acks=at_sender.acks + shifts[is_first],
        late_packets=int(pairs["is_reordered"].sum()),
    )
    if row["large_packets"]:
        # A part of a large packet may be lost: only repeats tell which.
        return whole
    size = sent["bytes"].to_numpy().astype(np.float64)
    mss = max(1.0, float(row["mss_bytes"] or row["segment_max_bytes"]))
    return replace(
        whole,
        sent_ns=sent[columns[0]].to_numpy().astype(np.float64),
        sent_bytes=size + np.maximum(1.0, np.ceil(size / mss)) * at_sender.frame_bytes,
        lost=(sent["fate"] == "lost").to_numpy(),
    )


def _by_sender(arrived: Floats, clocks: Clocks, sender_is_first: bool) -> Floats:
    """Times of the receiver's clock, by that of the sender: without drift; delays are of an unknown offset."""
    ends = [one for one in (clocks.offset_low_ns, clocks.offset_high_ns) if one is not None]
    offset = float(np.mean(ends)) if ends else 0.0
    ahead: Floats = offset + (clocks.skew_ppm or 0.0) / 1e6 * (arrived - arrived[0])
    return np.subtract(arrived, ahead) if sender_is_first else np.add(arrived, ahead)
