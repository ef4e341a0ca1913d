"""The answer in plain English: what limits a transfer, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dumbbell.captures.diagnosis import Cause
from dumbbell.fitting.estimate import Estimate
from dumbbell.fitting.fitted import Fit, is_short

_FULL: Final = 0.85
"""Share of the capacity above which the bottleneck is full."""
_BLOATED: Final = 1.0
"""Queueing delay, in base RTTs, from which on a buffer is called large,"""
_BLOATED_MS: Final = 20.0
"""and at least so much."""
_HARMFUL: Final = 0.0005
"""Probability of loss from which on algorithms that take loss for congestion suffer."""


def rate(bps: float) -> str:
    """`3.88 Mbit/s`."""
    for unit, size in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bps >= size:
            return f"{bps / size:.3g} {unit}"
    return f"{bps:.3g} bit/s"


def size(count: float) -> str:
    """`64 kB`."""
    for unit, step in (("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.3g} {unit}"
    return f"{count:.0f} B"


def milliseconds(ns: float) -> str:
    """`90 ms`, `1.2 s`."""
    return f"{ns / 1e6:.3g} ms" if ns < 999.5e6 else f"{ns / 1e9:.3g} s"


def share_of(value: float, digits: int) -> str:
    """`1.2 %`."""
    return f"{100 * value:.{digits}f} %"


def answer(fit: Fit) -> list[str]:
    """Sentences that say what limits the transfer, what would help, and what the capture lacks."""
    return [*_limit(fit), *(f"Warning: {warning}" for warning in fit.warnings)]


def _limit(fit: Fit) -> list[str]:
    if fit.transfer.is_link:
        return _link(fit)
    if fit.is_window_limited:
        return _window(fit)
    if fit.is_buffer_limited:
        share = fit.transfer.shares["send buffer"]
        return [
            f"The sender's socket buffer limits this transfer: it was full for {share_of(share, 0)} of the time.",
            "Another congestion control would not help; a larger buffer (SO_SNDBUF, or net.ipv4.tcp_wmem) would.",
        ]
    if fit.is_application_limited:
        idle = f"{'had nothing more to send' if fit.is_log else 'sent nothing'} for "
        idle += share_of(fit.transfer.shares["application"], 0)
        return [
            f"The sender's application limits this transfer: it {idle} of the time.",
            "Another congestion control would not help.",
        ]
    if fit.policer.is_found:
        return _policer(fit)
    if fit.transfer.cause is Cause.SHORT or (is_short(fit) and not _is_full(fit)):
        return ["This transfer is too short to fill the path: what limits a longer one cannot be told."]
    if _is_full(fit):
        return _full(fit)
    if fit.losses.loss.value is not None and fit.losses.loss.value >= _HARMFUL:
        return _lossy(fit)
    return _rest(fit)


def _is_full(fit: Fit) -> bool:
    return fit.own_bps is not None and fit.transfer.frames_bps >= _FULL * fit.own_bps


def _window(fit: Fit) -> list[str]:
    window, base, capacity = fit.window.value, fit.base_rtt.value, fit.rate.capacity.value
    at = f" at {milliseconds(base)}" if base is not None else ""
    sentences = [
        f"The receiver's window{f' of {size(window)}' if window else ''} limits this transfer{at}"
        f" to {rate(fit.transfer.goodput_bps)}."
    ]
    if capacity is not None and base is not None:
        needed = capacity / 8e9 * base
        sentences.append(
            f"Another congestion control would not help; a window of {size(2 * needed)}, twice the path's "
            f"bandwidth-delay product, would: the bottleneck carries {rate(capacity)}."
        )
    else:
        sentences.append("Another congestion control would not help; a larger receive buffer would.")
    return sentences


def _policer(fit: Fit) -> list[str]:
    policed, burst, capacity = fit.policer.rate.value, fit.policer.burst.value, fit.rate.capacity.value
    assert policed is not None
    assert burst is not None
    link = f", although the link carries {rate(capacity)}" if capacity is not None else ""
    lost = fit.transfer.lost_share
    return [
        f"A policer limits this transfer: it drops what exceeds {rate(policed)} with a bucket of {size(burst)}{link}.",
        f"No congestion control gets more than {rate(policed)}; this one got "
        f"{share_of(fit.transfer.frames_bps / policed, 0)} of it, and lost {share_of(lost, 2)} of its packets. "
        "A sender that is paced below that rate loses none.",
    ]


def _full(fit: Fit) -> list[str]:
    capacity, base = fit.rate.capacity.value or fit.rate.available.value, fit.base_rtt.value
    assert capacity is not None
    median, high = fit.transfer.queue_ms
    if fit.is_shared:
        available = fit.rate.available.value or 0.0
        why = "others send over it, or the link pauses"
        if fit.losses.buffer.is_identifiable:
            why = "the link pauses" if fit.losses.is_own else "others send over it"
        first = f"This connection gets {rate(available)} of a bottleneck of {rate(capacity)}: {why}."
    elif fit.rate.varies:
        first = f"The bottleneck limits this transfer: its rate varies, and is {rate(capacity)} on average."
    elif fit.rate.capacity.value is None:
        first = f"The bottleneck is full: it limits this transfer, and gives it {rate(capacity)}."
    else:
        first = f"The bottleneck of {rate(capacity)} is full: it limits this transfer."
    if base is not None and median >= max(_BLOATED_MS, _BLOATED * base / 1e6):
        buffer = fit.losses.buffer.value
        held = f" of {size(buffer)}" if buffer is not None else ""
        return [
            first,
            f"Its buffer{held} is bloated: packets wait {milliseconds(median * 1e6)} at the median and up to "
            f"{milliseconds(high * 1e6)}, "
            f"beside a base RTT of {milliseconds(base)}. A queue discipline such as FQ-CoDel, or BBR, would cut the "
            "delay, but not the transfer's time.",
        ]
    change = "Another congestion control could change the delay and the losses, but not the transfer's time."
    if base is None and not fit.is_log:
        return [first, change, f"How long packets wait is not known: {fit.base_rtt.why_not}."]
    return [first, change]


def _lossy(fit: Fit) -> list[str]:
    loss, capacity = fit.losses.loss.value, fit.rate.capacity.value
    assert loss is not None
    share = f", of {rate(capacity)} that the bottleneck carries" if capacity is not None else ""
    return [
        f"Losses apart from a full queue limit this transfer: {share_of(loss, 2)} of the packets, at any delay.",
        f"It got {rate(fit.transfer.goodput_bps)}{share}. A congestion control that does not take each loss for "
        "congestion, such as BBR, may get more.",
    ]


def _rest(fit: Fit) -> list[str]:
    capacity = fit.rate.capacity.value
    got = f"It got {rate(fit.transfer.goodput_bps)}"
    if fit.is_log and capacity is None and fit.rate.available.value is not None:
        first = f"{got}, and {rate(fit.rate.available.value)} while packets queued: for the rest of the time it did not"
        return [f"{first} fill the bottleneck.", "Another congestion control, or a larger buffer, may get more."]
    if capacity is None:
        kind, lacks = ("file", fit.rate.available) if fit.is_log else ("capture", fit.rate.capacity)
        first = f"What limits this transfer cannot be told from this {kind}, because {lacks.why_not}."
        return [first, f"{got}.", *_unexplained(fit)]
    if fit.window.value is None and not fit.is_log and fit.transfer.lost_share < _HARMFUL:
        return [
            f"{got} of {rate(capacity)}: the congestion window or the receiver's window limits this transfer.",
            "Which of them is not known, as the capture lacks the SYNs' options. Begin it before the connection opens.",
        ]
    first = (
        f"{got} of {rate(capacity)}: the congestion window limits this transfer, not the receiver or the application."
    )
    if fit.losses.is_early:
        first += " Packets were dropped before its queue was full: by a queue discipline, or beside other traffic."
    elif fit.losses.overflows:
        first += f" The bottleneck's queue overflowed and lost {fit.losses.overflows:,} packets."
    elif unexplained := _unexplained(fit):
        return [first, *unexplained]
    return [first, "Another congestion control, or a larger buffer, may get more."]


def _unexplained(fit: Fit) -> list[str]:
    """A sentence on losses that no queue explains, which samples or a capture without delays do not tell apart."""
    lost, base = fit.transfer.lost_share, fit.base_rtt.value
    if base is None or lost < _HARMFUL or not (fit.is_log or fit.losses.loss.value is None):
        return []
    again = f"It sent {share_of(lost, 2)} of its packets again"
    why = "A policer, a short buffer or random loss may be why"
    if not fit.is_log:
        return [f"{again}. {why}. This capture does not tell which: {fit.losses.loss.why_not}."]
    return [f"{again}, while packets hardly queued. {why}: a capture tells which."]


def _link(fit: Fit) -> list[str]:
    carried = fit.rate.capacity.value or 0.0
    every = [bps for _, bps in fit.rate.series]
    spread = f", between {rate(min(every))} and {rate(max(every))} in parts of it" if fit.rate.varies else ""
    return [
        f"This link carries {rate(carried)} on average over {fit.transfer.seconds:.3g} s{spread}.",
        "The file has no transfer, so delay, buffer and losses are not known.",
    ]


def rows(fit: Fit) -> list[tuple[str, str, str, str]]:
    """Rows of a table: what, value, interval, and evidence or the reason why it is not identifiable."""
    units = {
        "capacity": ("Capacity", rate),
        "available": ("Rate while it queued", rate),
        "others": ("Others' rate while it queued", rate),
        "base_rtt": ("Base RTT", milliseconds),
        "buffer": ("Buffer", size),
        "policer_rate": ("Policer's rate", rate),
        "policer_burst": ("Policer's bucket", size),
        "loss": ("Loss apart from overflow", lambda value: share_of(value, 3)),
        "late": ("Packets that came late", lambda value: share_of(value, 3)),
        "ack_packets": ("Packets per ACK", lambda value: f"{value:.2f}"),
        "window": ("Receiver's window", size),
    }
    return [(units[name][0], *_cells(one, units[name][1])) for name, one in fit.estimates().items()]


def _cells(estimate: Estimate, words: Callable[[float], str]) -> tuple[str, str, str]:
    if estimate.value is not None:
        low, high = estimate.low, estimate.high
        between = "" if low is None or high is None or low == high else f"{words(low)} to {words(high)}"
        return words(estimate.value), between, estimate.evidence
    bounds = [f"at least {words(estimate.low)}"] if estimate.low else []
    bounds += [f"at most {words(estimate.high)}"] if estimate.high is not None else []
    return "not identifiable", ", ".join(bounds), estimate.why_not
