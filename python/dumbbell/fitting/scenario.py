"""A scenario that runs, of a fitted path. Comments have intervals and evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from dumbbell.fitting.estimate import Estimate
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.words import answer, milliseconds, rate, share_of, size
from dumbbell.scenario.file.foreign.notes import one_line
from dumbbell.scenario.source import show
from dumbbell.units import Duration, Rate

_LEAST_S: Final = 5.0
_MOST_STEPS: Final = 2_000
_BURSTY: Final = 1.3
"""Packets in a run of losses, on average, from which on they are modelled by states (Gilbert 1960)."""
_WINDOW_MEMORY: Final = 1.6
"""Receive buffer per byte of window, as Linux 6.12 accounts for full frames: the rest is bookkeeping."""
_ANY_RTT_NS: Final = 40e6
"""Base RTT of a link without a transfer, which tells none."""
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


def toml(fit: Fit, cc: str | None = None) -> str:
    """The text of a scenario in which a flow of `cc` runs over the fitted path; by default, `own_cc(fit)`."""
    cc = own_cc(fit) if cc is None else cc
    served = served_bps(fit)
    lines = [f"# {line}" for line in answer(fit)]
    name = _NAME.sub("-", f"fit-{fit.name}")[:64].strip("-")
    seconds = max(_LEAST_S, round(fit.transfer.seconds, 1))
    lines += [f'name = "{name}"', f'duration = "{seconds:g} s"', ""]
    lines += ["[topology]", 'kind = "dumbbell"', f"pairs = {2 if _others(fit) else 1}"]
    base = _base_ns(fit)
    lines += [*_comment(fit.base_rtt, milliseconds), f'rtt = "{Duration(max(1000, round(base / 1000) * 1000))}"', ""]
    lines += ["[topology.bottleneck]", *_comment(fit.rate.capacity, rate)]
    if _pauses(fit):
        lines.append(f"# The link pauses, and carries {rate(served)} on average.")
    lines.append(f"rate = {_rate(fit, served)}")
    lines += [*_comment(fit.losses.buffer, size), f"buffer = {_buffer(fit, served, base)}"]
    if fit.losses.is_early:
        lines += ["# A queue discipline drops early. Its kind is not known: CoDel stands for it.", 'queue = "codel"']
    if fit.policer.is_found:
        policed, burst = fit.policer.rate, fit.policer.burst
        lines += _comment(policed, rate)
        lines += [f'policer = {{ rate = "{_plain(policed.value or 0.0)}", burst = "{burst.value:.0f} B" }}']
    lines += [*_comment(fit.losses.loss, lambda value: share_of(value, 3)), *_loss(fit)]
    lines += ["", "[[flows]]", 'id = "fitted"', 'from = "s1"', 'to = "r1"', f"cc = {show(cc)}"]
    if _others(fit):
        beside = (fit.rate.capacity.value or 0.0) - (fit.rate.available.value or 0.0)
        lines += ["", "# What others sent, or what was lost to pauses of the link, on average."]
        lines += ["[[flows]]", 'id = "others"', 'from = "s2"', 'to = "r2"', 'protocol = "udp"']
        lines += [f'rate = "{_plain(beside)}"']
    if fit.is_window_limited and fit.window.value is not None:
        memory = round(_WINDOW_MEMORY * fit.window.value)
        lines += ["", "[hosts.r1]", f"# A window of {size(fit.window.value)}."]
        lines += [f'sysctl = {{ "net.ipv4.tcp_rmem" = "4096 {memory} {memory}" }}']
    # A profile's texts may be anybody's: what they say stays a comment.
    plain = (f"# {one_line(line[1:])}" if line.startswith("#") else line for line in lines)
    return "\n".join(plain) + "\n"


def _base_ns(fit: Fit) -> float:
    """Base RTT of the scenario, ns: where it is not identifiable, its upper or its lower bound."""
    if fit.transfer.is_link:
        return _ANY_RTT_NS
    one = fit.base_rtt
    return one.value if one.value is not None else one.high or one.low or 1e6


def own_cc(fit: Fit) -> str:
    """Congestion control of the transfer, as far as the file names it; else CUBIC."""
    return fit.transfer.cc or "cubic"


def served_bps(fit: Fit) -> float:
    """Rate of the bottleneck of the scenario, bit/s: of a link that pauses, its mean."""
    if _pauses(fit) and fit.rate.available.value is not None:
        return fit.rate.available.value
    return fit.rate.capacity.value or fit.rate.available.value or max(1e5, fit.transfer.goodput_bps * 1.05)


def _pauses(fit: Fit) -> bool:
    return fit.is_shared and fit.losses.is_own


def _others(fit: Fit) -> bool:
    return fit.is_shared and not fit.policer.is_found and not fit.losses.is_own


def _comment(estimate: Estimate, words: Callable[[float], str]) -> list[str]:
    if estimate.value is not None:
        between = (
            ""
            if estimate.low is None or estimate.high is None
            else f"{words(estimate.low)} to {words(estimate.high)}; "
        )
        return [f"# {between}{estimate.evidence}"]
    bounds = [f"at least {words(estimate.low)}"] if estimate.low else []
    bounds += [f"at most {words(estimate.high)}"] if estimate.high is not None else []
    return [f"# Not identifiable: {estimate.why_not}{'; ' if bounds else ''}{', '.join(bounds)}"]


def _rate(fit: Fit, served: float) -> str:
    series = fit.rate.series
    if not fit.rate.varies or not series:
        return f'"{_plain(served)}"'
    chosen = series[:: max(1, -(-len(series) // _MOST_STEPS))]
    steps = ", ".join(f'["{time:.3f} s", "{_plain(bps)}"]' for time, bps in _from_zero(chosen))
    return f"{{ steps = [{steps}] }}"


def _plain(bps: float) -> Rate:
    """A rate in four digits: no estimate is as narrow as the fifth."""
    return Rate(max(1000, round(bps, 3 - int(math.log10(max(bps, 1000))))))


def _from_zero(series: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return series if series[0][0] == 0 else [(0.0, series[0][1]), *series]


def _buffer(fit: Fit, served: float, base_ns: float) -> str:
    one = fit.losses.buffer
    frame = fit.transfer.segment_bytes
    if one.value is not None:
        return f'"{max(frame, one.value):.0f} B"'
    if one.low is not None and one.high is not None:
        return f'"{max(2 * frame, (one.low + one.high) / 2):.0f} B"'
    # Nothing overflowed, so the buffer is larger than what waited; else as large as the product of rate and RTT.
    bdp = served * base_ns / 8e9
    if one.low is not None and fit.is_log and fit.losses.overflows:
        bdp = one.low
    return f'"{max(16 * frame, bdp, one.low or 0.0):.0f} B"'


def _loss(fit: Fit) -> list[str]:
    one = fit.losses.loss
    value = one.value
    if value is None and one.low and one.high:
        # Too few were lost to tell how many will be, but some will.
        value = (one.low + one.high) / 2
    if not value:
        return []
    if fit.losses.burst_packets < _BURSTY:
        return [f'loss = "{100 * value:.4f} %"']
    leave = 1 / fit.losses.burst_packets
    enter = value * leave / max(1e-9, 1 - value)
    return [f'loss = {{ model = "gilbert-elliott", p = "{100 * enter:.4f} %", r = "{100 * leave:.4f} %" }}']
