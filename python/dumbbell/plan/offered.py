"""The packets that a plan's flows offer to its network, from rates alone: an estimate before a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.plan.network import network
from dumbbell.plan.parts import full_frame, kind, size
from dumbbell.plan.types import Plan

ACKS: Final = 0.5
"""ACKs per data packet: every second packet is acknowledged."""


def packets_per_s(plan: Plan) -> float | None:
    """Packets per second, data and ACKs, if flows fill their paths or send all they have; `None` without a rate."""
    found, offered = network(plan), dict[str, float]()
    rates = {name: _peak_bps(link.peaks_bps) for name, link in found.facts.items()}
    for flow in plan.flows:
        limits = [(rate, link.name) for link in found.there(flow) if (rate := rates[link.name])]
        if not limits:
            return None
        rate, link = min(limits)
        asked: float = kind(flow).rate_bps(flow.workload) or rate
        if (amount := size(flow)) is not None:
            asked = min(asked, amount * 8e9 / plan.duration_ns)
        offered[link] = min(offered.get(link, 0.0) + asked, rate)
    return sum(offered.values()) / (8 * full_frame(plan)) * (1 + ACKS)


def _peak_bps(peaks: Sequence[int | None]) -> int | None:
    """The largest of a link's rates over time; none if it has no limit at any time."""
    limited = [peak for peak in peaks if peak is not None]
    return max(limited) if len(limited) == len(peaks) else None
