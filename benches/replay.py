"""An ideal drop-tail link, as the reference for a measured one.

It is written from the semantics in `docs/reference/scenario.md` and shares no code with the emulator, not even the way
of computing: it walks over packets where the emulator walks over events, and holds times as exact fractions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

BIT_NS = 8_000_000_000
"""Nanoseconds of a byte at 1 bit/s."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The outcome of a packet on the ideal link."""

    queue_bytes: int
    """Waiting at its arrival, without itself and without the packet in service."""
    departure_ns: int | None
    """When its last bit left the serializer; `None` if it was dropped."""


def replay(
    arrivals: Iterable[tuple[int, int]],
    rate_bps: int,
    buffer_bytes: int | None = None,
    buffer_packets: int | None = None,
) -> list[Passed]:
    """Send packets through an ideal FIFO in front of an ideal serializer.

    A packet that finds the serializer free is in service at once. Otherwise it waits if the buffer has room for all of
    it beside those that wait already, the one in service not counted, and is dropped if not. Other events of the same
    nanosecond happen before an arrival. Packets of a busy period leave without gaps between their bits: each departure
    is the exact one rounded down, and no rounding is carried on.

    Args:
        arrivals: time in ns and size in bytes (frame and overhead) of each packet, in the order of arrival.
        rate_bps: the serializer's rate, bit/s.
        buffer_bytes: room in bytes, or `None`.
        buffer_packets: room in packets, or `None`; without either there is always room.

    Returns:
        One `Passed` for each arrival, in the same order.
    """
    passed: list[Passed] = []
    # Exact times as multiples of 1/rate_bps ns: integers, so that no fraction is lost.
    free_at = 0
    waiting: deque[tuple[int, int]] = deque()  # when the service starts (ns), and bytes
    waiting_bytes = 0
    for arrival_ns, size in arrivals:
        while waiting and waiting[0][0] <= arrival_ns:
            waiting_bytes -= waiting.popleft()[1]
        free_ns = free_at // rate_bps
        if free_ns > arrival_ns:
            full = buffer_bytes is not None and waiting_bytes + size > buffer_bytes
            full = full or (buffer_packets is not None and len(waiting) >= buffer_packets)
            if full:
                passed.append(Passed(waiting_bytes, None))
                continue
        elif free_ns < arrival_ns:
            free_at = arrival_ns * rate_bps  # a new busy period
        free_at += size * BIT_NS
        passed.append(Passed(waiting_bytes, free_at // rate_bps))
        if free_ns > arrival_ns:
            waiting.append((free_ns, size))
            waiting_bytes += size
    return passed
