"""Diagnoses of captured connections in sentences: the cause, its evidence, losses and the bottleneck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.captures.capture import Capture
from dumbbell.captures.diagnosis import MOST_DIAGNOSED, SYN_TIMEOUT_NS, Cause, Diagnosis, Evidence, diagnose
from dumbbell.captures.directions import is_window_known
from dumbbell.captures.rows import Direction
from dumbbell.report import words

MOST_TOLD: Final = 5
"""Directions whose diagnosis is printed in sentences, those with the most payload."""


def sentences(row: Direction, diagnosis: Diagnosis) -> list[str]:
    """A few sentences on a direction, `row` of `directions`."""
    said = [_cause(row, diagnosis)]
    seen = diagnosis.seen
    if diagnosis.cause in (Cause.WINDOW, Cause.APPLICATION, Cause.SHORT) and seen.lost_packets:
        said.append(f"{_lost(diagnosis)}.")
    is_untold = diagnosis.cause is Cause.UNKNOWN and seen.acknowledged_bytes is not None
    if is_untold or diagnosis.cause in _ABOUT_BOTTLENECK:
        said.append(_bottleneck(diagnosis))
    if seen.limits_ns and not is_window_known(row) and diagnosis.cause is not Cause.APPLICATION:
        said.append("The receive window is unknown, and may limit, too: a SYN or its options are missing.")
    if any(seen.marks.values()):
        counts = ", ".join(f"{name} on {words.count(count, 'packet')}" for name, count in seen.marks.items() if count)
        said.append(f"Congestion was signalled by ECN: {counts}.")
    if seen.syn_repeats:
        said.append(_syns(seen))
    if row["reset_bytes"]:
        said.append(f"{words.count(row['reset_bytes'], 'byte')} came with a RST, and are no data of the connection.")
    return said


_ABOUT_BOTTLENECK: Final = (Cause.RANDOM, Cause.OVERFLOW, Cause.START, Cause.LOSSES, Cause.QUEUE, Cause.SENDER)

Diagnoses = dict[tuple[int, str], tuple[Diagnosis, list[str]]]
"""Diagnoses and their sentences, by connection and direction."""


def diagnoses(capture: Capture, rows: Sequence[Direction]) -> Diagnoses:
    """Diagnoses of the first of some rows of `directions`."""
    rows = rows[:MOST_DIAGNOSED]
    return {
        (row["connection"], str(row["direction"])): (one, sentences(row, one))
        for row, one in zip(rows, diagnose(capture, rows), strict=True)
    }


def listed(diagnoses: Diagnoses) -> list[tuple[int, str, str]]:
    """Connection, direction and sentences of those that are not merely too short."""
    return [
        (number, direction, " ".join(said))
        for (number, direction), (one, said) in diagnoses.items()
        if one.cause is not Cause.SHORT or len(said) > 1
    ]


def _cause(row: Direction, diagnosis: Diagnosis) -> str:
    seen, at = diagnosis.seen, diagnosis.seen.losses
    rtt = _ms(seen.base_rtt_ns)
    match diagnosis.cause:
        case Cause.UNKNOWN if row["unique_bytes"] is None:
            return "No data of the connection was captured."
        case Cause.UNKNOWN if seen.acknowledged_bytes is not None and seen.has_queue is None:
            return "The limit can't be told: nothing was lost, and the capture does not show the path's RTT."
        case Cause.UNKNOWN if seen.acknowledged_bytes is not None:
            return (
                f"The limit can't be told: nothing was lost, packets were delayed by up to {_ms(seen.queue_ns)} "
                f"(RTT {rtt}), but the bottleneck was not full for long."
            )
        case Cause.UNKNOWN:
            return "The limit can't be told: no acknowledgement was captured."
        case Cause.SHORT:
            return f"Too short to judge: {words.count(row['wire_packets'], 'packet')} with data."
        case Cause.WINDOW:
            held = words.size(row["in_flight_max_bytes"])
            flight = f"at most {held} were in flight" if seen.is_flight_seen else "what was in flight is not seen here"
            return f"The receive window limits, for {_percent(seen.share('window'))} of the time: {flight} (RTT {rtt})."
        case Cause.APPLICATION:
            pause = _ms(row["idle_max_ns"])
            return (
                f"The application limits: for {_percent(seen.share('application'))} of the time there was nothing to "
                f"send, {pause} at the longest."
            )
        case Cause.REORDERING:
            return (
                f"Reordering: {words.count(seen.late_packets, 'packet')} came late or were sent again without need, "
                f"while {_lost(diagnosis)}."
            )
        case Cause.RANDOM if at is not None:
            occasions = f"{_percent(at.at_base_share)} of {words.count(at.episodes, 'occasion')}"
            return (
                f"Random loss, a policer, or a buffer shorter than {_ms(seen.least_queue_ns)}: {_lost(diagnosis)}. "
                f"On {occasions} the queue was no longer than that: the RTT was at its minimum of {rtt}."
            )
        case Cause.START if at is not None:
            after = (
                "After that the bottleneck was full without a loss" if seen.is_full else "Nothing was lost after that"
            )
            return (
                f"A queue overflowed during slow start: {_lost(diagnosis)}, all in the first "
                f"{words.milliseconds(at.last_ns / 1e6)} ms, when it had grown to about {_ms(at.queue_ns)} above the "
                f"RTT's minimum of {rtt}. {after}."
            )
        case Cause.OVERFLOW if at is not None:
            times = words.count(at.episodes, "occasion")
            return (
                f"A queue overflows: {_lost(diagnosis)}, on {times}, when it had grown to about {_ms(at.queue_ns)} "
                f"above the RTT's minimum of {rtt}."
            )
        case Cause.POLICER if at is not None:
            return (
                f"A policer drops what exceeds {words.measured_rate(diagnosis.bottleneck_bps)}: {_lost(diagnosis)} at "
                f"that rate, and no queue delayed packets (RTT {rtt})."
            )
        case Cause.SLOW_START:
            rounds = f"{seen.rounds:.1f}" if seen.rounds is not None else words.UNKNOWN
            return (
                f"Slow start alone: {words.size(row['acknowledged_bytes'])} took {rounds} round trips of {rtt}, in "
                "which the window grew. A longer transfer would be faster."
            )
        case Cause.QUEUE:
            queue = _ms(seen.queue_ns)
            return (
                f"The bottleneck limits: nothing was lost, and its queue delayed packets by up to {queue} (RTT {rtt})."
            )
        case Cause.SENDER:
            return (
                "Congestion window, pacing or send buffer limits: nothing was lost, and no queue delayed packets "
                f"(RTT {rtt})."
            )
        case _ if at is not None and not at.is_behind:
            return (
                f"Losses: {_lost(diagnosis)}; the cause can't be told here: the capture saw neither these packets nor "
                "the queue they met."
            )
        case _ if at is not None:
            return (
                f"Losses: {_lost(diagnosis)}; the cause can't be told (queueing delay at the losses: "
                f"{_ms(at.queue_ns)}, 95th percentile of all: {_ms(seen.queue_ns)}, RTT's minimum: {rtt})."
            )
        case _:
            return f"Losses: {_lost(diagnosis)}; the cause can't be told."


def _lost(diagnosis: Diagnosis) -> str:
    seen = diagnosis.seen
    rate = 100 * seen.lost_packets / max(1, seen.sent_packets)
    return f"{rate:.2g} % of the packets were lost ({seen.lost_packets:,})"


def _bottleneck(diagnosis: Diagnosis) -> str:
    if diagnosis.bottleneck_bps is not None:
        rate = words.measured_rate(diagnosis.bottleneck_bps)
        return (
            f"The bottleneck carried about {rate} of this connection while a queue stood, beside other traffic if any."
        )
    least = f"; at least {words.measured_rate(diagnosis.passed_bps)}" if diagnosis.passed_bps else ""
    why = "no queue stood for long" if diagnosis.seen.has_queue is not None else "no queue is seen"
    return f"The bottleneck's rate can't be told, as {why}{least}."


def _syns(seen: Evidence) -> str:
    syns = words.count(seen.syn_repeats, "SYN")
    if seen.base_rtt_ns is not None and seen.base_rtt_ns < SYN_TIMEOUT_NS / 2:
        return f"{syns} came again: as many were lost, or their answers."
    return f"{syns} came again: they were lost, or their answers came late."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _ms(ns: float | None) -> str:
    return words.UNKNOWN if ns is None else f"{words.milliseconds(ns / 1e6)} ms"
