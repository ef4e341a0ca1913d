"""The queueing disciplines that a plan's links need of a kernel, as `tc` calls them.

The crate `plan` says the same links in the words of tc(8).
"""

from __future__ import annotations

from typing import Final

from dumbbell.plan.types import Link, Plan

DISCIPLINES: Final = {
    "codel": ("tbf", "codel"),
    "fq-codel": ("tbf", "fq_codel"),
    "pie": ("tbf", "pie"),
    "red": ("tbf", "red"),
    "fq": ("tbf", "fq"),
    "cake": ("cake",),
}
"""Queue -> what the kernel makes of it and of a rate. Others are tbf, with a pfifo or without."""


def wanted(plan: Plan) -> tuple[str, ...]:
    """Sorted; none where dumbbell's own links carry the packets."""
    match plan.emulate.links:
        case "kernel":
            found = {name for link in plan.links for name in _kernels(link)}
        case "mininet":
            found = {name for link in plan.links for name in _mininets(link)}
        case _:
            found = set()
    return tuple(sorted(found))


def _kernels(link: Link) -> set[str]:
    found = set(DISCIPLINES.get(link.queue.kind, ("tbf",))) if link.rate_bps is not None else set()
    return found | ({"netem"} if _is_delayed(link) or link.delay_line_packets is not None else set())


def _mininets(link: Link) -> set[str]:
    found = {"htb"} if link.rate_bps is not None else set()
    return found | ({"netem"} if _is_delayed(link) or link.buffer != "unlimited" else set())


def _is_delayed(link: Link) -> bool:
    """Delayed, or lost."""
    return bool(link.delay_ns or link.jitter or link.loss_before or link.loss_after)
