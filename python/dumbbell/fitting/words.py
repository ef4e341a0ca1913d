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
    """`90 ms`."""
    return f"{ns / 1e6:.3g} ms"


def share_of(value: float, digits: int) -> str:
    """`1.2 %`."""
    return f"{100 * value:.{digits}f} %"


def answer(found: Fit) -> list[str]:
    """Sentences that say what limits the transfer, and what would help."""
    if found.is_window_limited:
        return _window(found)
    if found.is_application_limited:
        share = found.transfer.shares["application"]
        return [
            f"The sender's application limits this transfer: it sent nothing for {share_of(share, 0)} of the time.",
            "Another congestion control would not help.",
        ]
    if found.policer.is_found:
        return _policer(found)
    if found.transfer.cause is Cause.SHORT or (is_short(found) and not _is_full(found)):
        return ["This transfer is too short to fill the path: what limits a longer one cannot be told."]
    if _is_full(found):
        return _full(found)
    if found.losses.loss.value is not None and found.losses.loss.value >= _HARMFUL:
        return _lossy(found)
    return _rest(found)


def _is_full(found: Fit) -> bool:
    available = found.rate.available.value
    reference = available if found.is_shared or found.rate.varies else found.rate.capacity.value
    return reference is not None and found.transfer.frames_bps >= _FULL * reference


def _window(found: Fit) -> list[str]:
    window, base, capacity = found.window.value, found.base_rtt.value, found.rate.capacity.value
    at = f" at {milliseconds(base)}" if base is not None else ""
    sentences = [
        f"The receiver's window{f' of {size(window)}' if window else ''} limits this transfer{at}"
        f" to {rate(found.transfer.goodput_bps)}."
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


def _policer(found: Fit) -> list[str]:
    policed, burst, capacity = found.policer.rate.value, found.policer.burst.value, found.rate.capacity.value
    assert policed is not None
    assert burst is not None
    link = f", although the link carries {rate(capacity)}" if capacity is not None else ""
    lost = found.transfer.lost_share
    return [
        f"A policer limits this transfer: it drops what exceeds {rate(policed)} with a bucket of {size(burst)}{link}.",
        f"No congestion control gets more than {rate(policed)}; this one got "
        f"{share_of(found.transfer.frames_bps / policed, 0)} of it, and lost {share_of(lost, 2)} of its packets. "
        "A sender that is paced below that rate loses none.",
    ]


def _full(found: Fit) -> list[str]:
    capacity, base = found.rate.capacity.value or found.rate.available.value, found.base_rtt.value
    assert capacity is not None
    median, high = found.transfer.queue_ms
    if found.is_shared:
        available = found.rate.available.value or 0.0
        why = "others send over it, or the link pauses"
        if found.losses.buffer.is_identifiable:
            why = "the link pauses" if found.losses.is_own else "others send over it"
        first = f"This connection gets {rate(available)} of a bottleneck of {rate(capacity)}: {why}."
    elif found.rate.varies:
        first = f"The bottleneck limits this transfer: its rate varies, and is {rate(capacity)} on average."
    else:
        first = f"The bottleneck of {rate(capacity)} is full: it limits this transfer."
    if base is not None and median >= max(_BLOATED_MS, _BLOATED * base / 1e6):
        buffer = found.losses.buffer.value
        held = f" of {size(buffer)}" if buffer is not None else ""
        return [
            first,
            f"Its buffer{held} is bloated: packets wait {median:.3g} ms at the median and up to {high:.3g} ms, "
            f"beside a base RTT of {milliseconds(base)}. A queue discipline such as FQ-CoDel, or BBR, would cut the "
            "delay, but not the transfer's time.",
        ]
    return [first, "Another congestion control could change the delay and the losses, but not the transfer's time."]


def _lossy(found: Fit) -> list[str]:
    loss, capacity = found.losses.loss.value, found.rate.capacity.value
    assert loss is not None
    share = f", of {rate(capacity)} that the bottleneck carries" if capacity is not None else ""
    return [
        f"Losses apart from a full queue limit this transfer: {share_of(loss, 2)} of the packets, at any delay.",
        f"It got {rate(found.transfer.goodput_bps)}{share}. A congestion control that does not take each loss for "
        "congestion, such as BBR, may get more.",
    ]


def _rest(found: Fit) -> list[str]:
    capacity = found.rate.capacity.value
    got = f"It got {rate(found.transfer.goodput_bps)}"
    if capacity is None:
        return ["What limits this transfer cannot be told from this capture.", f"{got}."]
    first = (
        f"{got} of {rate(capacity)}: the congestion window limits this transfer, not the receiver or the application."
    )
    if found.losses.overflows:
        first += f" The bottleneck's queue overflowed and lost {found.losses.overflows:,} packets."
    return [first, "Another congestion control, or a larger buffer, may get more."]


def told(found: Fit) -> list[tuple[str, str, str, str]]:
    """Rows of a table: what, value, interval, and evidence or the reason why it is not identifiable."""
    units = {
        "capacity": ("Capacity", rate),
        "available": ("Rate while it queued", rate),
        "base_rtt": ("Base RTT", milliseconds),
        "buffer": ("Buffer", size),
        "policer_rate": ("Policer's rate", rate),
        "policer_burst": ("Policer's bucket", size),
        "loss": ("Loss apart from overflow", lambda value: share_of(value, 3)),
        "late": ("Packets that came late", lambda value: share_of(value, 3)),
        "ack_packets": ("Packets per ACK", lambda value: f"{value:.2f}"),
        "window": ("Receiver's window", size),
    }
    return [(units[name][0], *_cells(one, units[name][1])) for name, one in found.estimates().items()]


def _cells(one: Estimate, words: Callable[[float], str]) -> tuple[str, str, str]:
    if one.value is not None:
        low, high = one.low, one.high
        between = "" if low is None or high is None or low == high else f"{words(low)} to {words(high)}"
        return words(one.value), between, one.evidence
    bounds = [f"at least {words(one.low)}"] if one.low else []
    bounds += [f"at most {words(one.high)}"] if one.high is not None else []
    return "not identifiable", ", ".join(bounds), one.why_not
