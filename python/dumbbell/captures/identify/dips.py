"""Dips of a direction's intervals that look like PROBE_RTT, as a report shows them."""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.captures.identify.marks import Floats, Mark, marks

_AT_ONCE: Final = 1.5
"""A sender that leaves PROBE_RTT has its window back at once: so many times as much is in flight in the next interval.
One that reduced its window for an ECN mark, which is no loss, opens it packet by packet."""


def dips(time_s: Floats, least_in_flight_bytes: Floats, segment_bytes: int, losses_s: Floats) -> list[Mark]:
    """Dips of the fewest bytes in flight of each interval that begin without a loss and end at once.

    Args:
        time_s: Starts of the intervals, in order; those without a row had no traffic.
        least_in_flight_bytes: Fewest bytes in flight of each.
        segment_bytes: Payload of a full packet.
        losses_s: When retransmissions were sent.
    """
    # A clock that went back gives several rows at a time.
    time_s, at = np.unique(time_s, return_index=True)
    if len(at) == 0:
        return []
    least_in_flight_bytes = np.minimum.reduceat(least_in_flight_bytes, at)
    found = marks(time_s, least_in_flight_bytes, segment_bytes, losses_s, is_least=True)
    if not found:
        return []
    # Half an interval earlier, so that the start of one that ends there is not missed by a rounding.
    half = float(np.median(np.diff(time_s))) / 2
    behind = np.searchsorted(time_s, [mark.end_s - half for mark in found])
    return [
        mark
        for mark, at in zip(found, behind, strict=True)
        if at < len(time_s) and least_in_flight_bytes[at] >= _AT_ONCE * least_in_flight_bytes[at - 1]
    ]
