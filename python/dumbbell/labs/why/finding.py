"""A reason, and what mends it."""

from __future__ import annotations

from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Finding:
    """A reason for which packets are lost."""

    text: str
    """A sentence without a full stop."""
    mends: tuple[str, ...] = ()
    """Lines for the lab's shell that mend it, in their order; empty if dumbbell knows none."""
    nodes: tuple[str, ...] = ()
    """Nodes whose state it explains: what is seen there of packets is no reason of its own."""
    links: tuple[str, ...] = ()
    """Links whose losses it explains."""
