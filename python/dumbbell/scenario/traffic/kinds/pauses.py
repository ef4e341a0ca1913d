"""Flows that pause: the keys `on` and `off`, which several kinds have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.bursts import Burst
from dumbbell.scenario.traffic.kinds.flow import AnyFlow
from dumbbell.units import Duration, Size, Time
from dumbbell.workloads import OnBytes, OnNs, OnOff

ON: Final = "How long the application writes before it pauses: a time, or so many bytes. Default: it never pauses."
OFF: Final = "How long it pauses then. After a burst of bytes the pause begins when all of them have arrived."


def check_pauses(at: Key, flow: AnyFlow, on: Burst | None, off: Duration | None) -> Iterator[Finding]:
    """One of the keys without the other, and a flow that ends by its size."""
    for key, given, other, missing, example in (
        ("on", on, "off", off, 'off = "2 s"'),
        ("off", off, "on", on, 'on = "1 s"'),
    ):
        if given is not None and missing is None:
            yield Finding((*at, key), f"without {other}", "on and off", f"add {example}")
    if on is not None:
        for key in ("bytes", "sizes"):
            if getattr(flow, key, None) is not None:
                what = "a flow with a size can't have on and off"
                yield Finding((*at, key), what, f"one of {key} and on", 'for bursts of bytes, write on = "300 kB"')


def on_off(on: Burst | None, off: Duration | None) -> OnOff | None:
    """The pattern in a plan."""
    if on is None or off is None:
        return None
    amount = int(on.amount)
    return OnOff(on=OnNs(ns=amount) if on.kind == "time" else OnBytes(bytes=amount), off_ns=int(off))


def amounts(size_bytes: int | None, pattern: OnOff | None) -> str:
    """`, 300 kB` or `, 1 s on, 2 s off`: what limits the data of a flow; empty if nothing does."""
    text = "" if size_bytes is None else f", {Size(size_bytes)}"
    if pattern is not None:
        on = Time(pattern.on.ns) if isinstance(pattern.on, OnNs) else Size(pattern.on.bytes)
        text += f", {on} on, {Time(pattern.off_ns)} off"
    return text
