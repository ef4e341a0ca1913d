"""The plots that they have for each algorithm."""

from __future__ import annotations

from typing import Final

from dumbbell.published.bernardi_2020.readings import CC, KERNEL
from dumbbell.published.model import Axis, Plot, Signal
from dumbbell.units.mtu import MTU, frame_bytes

_SIGNALS: Final[tuple[tuple[Signal, str, float], ...]] = (
    ("goodput", "goodput (Mbit/s)", 1e6),
    ("cwnd", "congestion window (packets)", 1.0),
    ("rtt", "RTT (ms)", 1e-3),
    ("queue", f"queue (packets of {frame_bytes(MTU)} B)", float(frame_bytes(MTU))),
    ("inflight", "in flight (packets)", 1.0),
)


def over_time(seconds: float) -> tuple[Plot, ...]:
    """The plots have their axes: all ordinates begin at 0, and end where the data do."""
    return tuple(
        Plot(title, "one figure per algorithm", "series", Axis("time (s)", 0, seconds), Axis(title, 0, factor=factor),
             signal, curves=CC)
        for signal, title, factor in _SIGNALS
    )  # fmt: skip


def by_kernel(rate_mbit: float) -> tuple[Plot, ...]:
    """Averages by the kernel that the algorithms ran in."""
    return (
        Plot("Goodput by the kernel", "our own", "bars", Axis("kernel"),
             Axis("goodput (Mbit/s)", 0, rate_mbit, factor=1e6), "goodput", KERNEL, CC),
        Plot("Sent again, by the kernel", "our own", "bars", Axis("kernel"),
             Axis("sent again (%)", 0, factor=0.01), "retransmitted_share", KERNEL, CC),
    )  # fmt: skip
