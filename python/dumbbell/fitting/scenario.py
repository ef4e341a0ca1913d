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
from dumbbell.units import Duration, Rate

_LEAST_S: Final = 5.0
_MOST_STEPS: Final = 2_000
_BURSTY: Final = 1.3
"""Packets in a run of losses, on average, from which on they are modelled by states (Gilbert 1960)."""
_WINDOW_MEMORY: Final = 1.6
"""Receive buffer per byte of window, as Linux 6.12 accounts for full frames: the rest is bookkeeping."""
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


def toml(found: Fit, cc: str = "cubic") -> str:
    """The text of a scenario in which a flow of `cc` runs over the fitted path."""
    served = served_bps(found)
    lines = [f"# {line}" for line in answer(found)]
    name = _NAME.sub("-", f"fit-{found.name}")[:64].strip("-")
    seconds = max(_LEAST_S, round(found.transfer.seconds, 1))
    lines += [f'name = "{name}"', f'duration = "{seconds:g} s"', ""]
    lines += ["[topology]", 'kind = "dumbbell"', f"pairs = {2 if _others(found) else 1}"]
    base = found.base_rtt.value if found.base_rtt.value is not None else found.base_rtt.high or 1e6
    lines += [*_comment(found.base_rtt, milliseconds), f'rtt = "{Duration(max(1000, round(base / 1000) * 1000))}"', ""]
    lines += ["[topology.bottleneck]", *_comment(found.rate.capacity, rate)]
    if _pauses(found):
        lines.append(f"# The link pauses, and carries {rate(served)} on average.")
    lines.append(f"rate = {_rate(found, served)}")
    lines += [*_comment(found.losses.buffer, size), f"buffer = {_buffer(found, served, base)}"]
    if found.losses.is_early:
        lines += ["# A queue discipline drops early. Its kind is not known: CoDel stands for it.", 'queue = "codel"']
    if found.policer.is_found:
        policed, burst = found.policer.rate, found.policer.burst
        lines += _comment(policed, rate)
        lines += [f'policer = {{ rate = "{_plain(policed.value or 0.0)}", burst = "{burst.value:.0f} B" }}']
    lines += [*_comment(found.losses.loss, lambda value: share_of(value, 3)), *_loss(found)]
    lines += ["", "[[flows]]", 'id = "fitted"', 'from = "s1"', 'to = "r1"', f'cc = "{cc}"']
    if _others(found):
        beside = (found.rate.capacity.value or 0.0) - (found.rate.available.value or 0.0)
        lines += ["", "# What others sent, or what was lost to pauses of the link, on average."]
        lines += ["[[flows]]", 'id = "others"', 'from = "s2"', 'to = "r2"', 'protocol = "udp"']
        lines += [f'rate = "{_plain(beside)}"']
    if found.is_window_limited and found.window.value is not None:
        memory = round(_WINDOW_MEMORY * found.window.value)
        lines += ["", "[hosts.r1]", f"# A window of {size(found.window.value)}."]
        lines += [f'sysctl = {{ "net.ipv4.tcp_rmem" = "4096 {memory} {memory}" }}']
    # A profile's texts may be anybody's: what they say stays a comment.
    plain = (f"# {one_line(line[1:])}" if line.startswith("#") else line for line in lines)
    return "\n".join(plain) + "\n"


def served_bps(found: Fit) -> float:
    """Rate of the bottleneck of the scenario, bit/s: of a link that pauses, its mean."""
    if _pauses(found) and found.rate.available.value is not None:
        return found.rate.available.value
    return found.rate.capacity.value or found.rate.available.value or max(1e5, found.transfer.goodput_bps * 1.05)


def _pauses(found: Fit) -> bool:
    return found.is_shared and found.losses.is_own


def _others(found: Fit) -> bool:
    return found.is_shared and not found.policer.is_found and not found.losses.is_own


def _comment(one: Estimate, words: Callable[[float], str]) -> list[str]:
    if one.value is not None:
        between = "" if one.low is None or one.high is None else f"{words(one.low)} to {words(one.high)}; "
        return [f"# {between}{one.evidence}"]
    bounds = [f"at least {words(one.low)}"] if one.low else []
    bounds += [f"at most {words(one.high)}"] if one.high is not None else []
    return [f"# Not identifiable: {one.why_not}{'; ' if bounds else ''}{', '.join(bounds)}"]


def _rate(found: Fit, served: float) -> str:
    series = found.rate.series
    if not found.rate.varies or not series:
        return f'"{_plain(served)}"'
    chosen = series[:: max(1, -(-len(series) // _MOST_STEPS))]
    steps = ", ".join(f'["{time:.3f} s", "{_plain(bps)}"]' for time, bps in _from_zero(chosen))
    return f"{{ steps = [{steps}] }}"


def _plain(bps: float) -> Rate:
    """A rate in four digits: no estimate is as narrow as the fifth."""
    return Rate(max(1000, round(bps, 3 - int(math.log10(max(bps, 1000))))))


def _from_zero(series: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return series if series[0][0] == 0 else [(0.0, series[0][1]), *series]


def _buffer(found: Fit, served: float, base_ns: float) -> str:
    one = found.losses.buffer
    frame = found.transfer.segment_bytes
    if one.value is not None:
        return f'"{max(frame, one.value):.0f} B"'
    if one.low is not None and one.high is not None:
        return f'"{max(2 * frame, (one.low + one.high) / 2):.0f} B"'
    # Nothing overflowed, so the buffer is larger than what waited; else as large as the product of rate and RTT.
    bdp = served * base_ns / 8e9
    return f'"{max(16 * frame, bdp, one.low or 0.0):.0f} B"'


def _loss(found: Fit) -> list[str]:
    one = found.losses.loss
    value = one.value
    if value is None and one.low and one.high:
        # Too few were lost to tell how many will be, but some will.
        value = (one.low + one.high) / 2
    if not value:
        return []
    if found.losses.burst_packets < _BURSTY:
        return [f'loss = "{100 * value:.4f} %"']
    leave = 1 / found.losses.burst_packets
    enter = value * leave / max(1e-9, 1 - value)
    return [f'loss = {{ model = "gilbert-elliott", p = "{100 * enter:.4f} %", r = "{100 * leave:.4f} %" }}']
