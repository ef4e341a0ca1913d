"""Reading captures: the outside view of the emulator."""

from __future__ import annotations

import struct
from collections.abc import Iterator
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
