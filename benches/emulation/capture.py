"""Reading captures and replaying them through an ideal link: the outside view of the emulator.

Nothing here uses dumbbell's own code: it is what the emulator is measured against.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

NANOSECOND_MAGIC = 0xA1B23C4D


@dataclass(frozen=True)
class Segment:
    """A captured TCP segment."""

    time_ns: int
    """CLOCK_REALTIME of the tap."""
    size_bytes: int
    """The whole frame."""
    payload_bytes: int
    key: tuple[int, int]
    """IP identification and TCP sequence number: tells a retransmission from the original."""


def read(path: Path) -> Iterator[Segment]:
    """The TCP segments with payload in a nanosecond pcap of Ethernet frames."""
    data = path.read_bytes()
    magic, *_ = struct.unpack_from("<IHHiIII", data)
    if magic != NANOSECOND_MAGIC:
        raise ValueError(f"{path}: not a little-endian nanosecond pcap")
    at = 24
    while at + 16 <= len(data):
        seconds, nanoseconds, captured, size = struct.unpack_from("<IIII", data, at)
        frame = at + 16
        at = frame + captured
        ip = frame + 14
        tcp = ip + 4 * (data[ip] & 0xF)
        total, identification = struct.unpack_from(">HH", data, ip + 2)
        (sequence,) = struct.unpack_from(">I", data, tcp + 4)
        payload = total - (tcp - ip) - 4 * (data[tcp + 12] >> 4)
        if payload:
            yield Segment(seconds * 10**9 + nanoseconds, size, payload, (identification, sequence))


def ideal(
    arrivals: Iterable[Segment], rate_bps: int, delay_ns: int, buffer_bytes: int
) -> tuple[list[tuple[Segment, int]], int]:
    """An ideal drop-tail FIFO: rate, buffer (the packet in service not counted), then propagation.

    Exact integers: times are kept in units of 1/rate ns.

    Returns:
        Each delivered segment with its delivery time in ns, and the number of drops.
    """
    delivered = []
    drops = 0
    free = 0  # when the wire is free, in 1/rate ns
    waiting: deque[tuple[int, int]] = deque()  # start of service in 1/rate ns, size
    backlog = 0
    for segment in arrivals:
        now = segment.time_ns * rate_bps
        while waiting and waiting[0][0] <= now:
            backlog -= waiting.popleft()[1]
        start = max(now, free)
        if start > now:
            if backlog + segment.size_bytes > buffer_bytes:
                drops += 1
                continue
            waiting.append((start, segment.size_bytes))
            backlog += segment.size_bytes
        free = start + segment.size_bytes * 8 * 10**9
        delivered.append((segment, free // rate_bps + delay_ns))
    return delivered, drops
