"""Deliveries that come in batches: hosts hand on several packets at once, so the gaps in a batch are not the link's."""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.fitting.trace import Floats

_HOST_NS: Final = 5e3
"""Deliveries that follow each other in less than this come from a host's batch: interrupt coalescing, GRO, ACKs of
one softirq."""
_LONGEST_NS: Final = 50e3
"""Time after which a batch ends: on a link of 10 Gbit/s all gaps are that short."""
_BATCHED: Final = 0.02
"""Share of the bytes that come in batches, from which on gaps between single deliveries tell no rate."""
_MODERATED_NS: Final = 1e5
"""Interrupts wait so long where hardware moderates them: shorter gaps are the host's, too."""
_TOGETHER: Final = 16
"""Batches that are taken together then: the timing of the first and of the last hardly matters,"""
_SPAN_NS: Final = 1e6
"""and they last so long."""


def without_batches(time_ns: Floats, sizes: Floats) -> tuple[Floats, Floats, bool]:
    """Takes deliveries of a batch together.

    Args:
        time_ns: Times of deliveries, in order.
        sizes: Bytes of each.

    Returns:
        Gaps between deliveries, ns; bytes that came with the later one; and true if hosts batch deliveries, or may, so
        that gaps are those of many batches.
    """
    gaps = np.diff(time_ns)
    # A long batch is cut where it enters another slot.
    is_next = np.r_[True, (gaps >= _HOST_NS) | (np.diff(time_ns // _LONGEST_NS) > 0)]
    is_single = sizes[1:][~is_next[1:]].sum() <= _BATCHED * sizes.sum()
    if not len(gaps) or (is_single and np.median(gaps) >= _MODERATED_NS):
        return gaps, sizes[1:], False
    # Bytes of a batch have all come when its last packet does.
    last = np.flatnonzero(np.r_[is_next[1:], True])
    through = np.cumsum(sizes)[last]
    when = time_ns[last]
    keep = _apart(when)
    return np.diff(when[keep]), np.diff(through[keep]), True


def _apart(when: Floats) -> list[int]:
    """Every 16th batch, or a later one if less than 1 ms has passed."""
    keep, at = [0], 0
    while True:
        at = max(at + _TOGETHER, int(np.searchsorted(when, when[at] + _SPAN_NS)))
        if at >= len(when):
            return keep
        keep.append(at)
