"""Estimates of a fit beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benches.fit.paths import Hidden
from dumbbell.fitting import Estimate, Fit

PROPERTIES: Final = ("capacity", "base RTT", "buffer", "policer", "loss")


@dataclass(frozen=True)
class Judged:
    """An estimate beside the truth."""

    path: Hidden
    side: str
    name: str
    truth: float | None
    """None: the path has no such property, so a value is a false alarm."""
    value: float | None
    low: float | None
    high: float | None
    is_right: bool | None
    """True within the target; None without a value."""
    is_inside: bool | None
    why_not: str


def judged(path: Hidden, side: str, fit: Fit) -> list[Judged]:
    """Each estimate of a fit beside the truth."""
    rows = [
        relative(path, side, "capacity", path.capacity_bps, fit.rate.capacity, 0.02),
        compared(path, side, "base RTT", path.rtt_ms * 1e6, fit.base_rtt, 1e6),
        relative(path, side, "loss", None if path.policer_bps else path.loss, fit.losses.loss, 0.2),
        relative(path, side, "policer", path.policer_bps, fit.policer.rate, 0.02),
    ]
    buffer = None if path.policer_bps else path.buffer_bytes
    return [*rows, relative(path, side, "buffer", buffer, fit.losses.buffer, 0.1)]


def relative(path: Hidden, side: str, name: str, truth: float | None, estimate: Estimate, share: float) -> Judged:
    right = None
    if estimate.value is not None:
        right = truth is not None and (abs(estimate.value - truth) <= share * truth if truth else estimate.low == 0)
    return _judged(path, side, name, truth, estimate, right)


def compared(path: Hidden, side: str, name: str, truth: float, estimate: Estimate, most: float) -> Judged:
    """An estimate whose value may differ from the truth by `most`."""
    right = None if estimate.value is None else abs(estimate.value - truth) <= most
    return _judged(path, side, name, truth, estimate, right)


def _judged(path: Hidden, side: str, name: str, truth: float | None, estimate: Estimate, right: bool | None) -> Judged:
    inside = None
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        inside = truth is not None and estimate.low <= truth <= estimate.high
    return Judged(path, side, name, truth, estimate.value, estimate.low, estimate.high, right, inside, estimate.why_not)


def refused(path: Hidden, side: str, why: str, names: Sequence[str] = PROPERTIES) -> list[Judged]:
    """The rows of a file that no path is fitted to: nothing is identified."""
    return [Judged(path, side, name, None, None, None, None, None, None, why) for name in names]
