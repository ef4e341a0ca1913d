"""Reading captures: the outside view of the emulator."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NANOSECOND_MAGIC = 0xA1B23C4D
UDP = 17
"""The protocol's number in IPv4."""


@dataclass(frozen=True)
class Segment:
    """A captured TCP segment or UDP datagram."""

    time_ns: int
    """CLOCK_REALTIME of the tap."""
    size_bytes: int
    """The whole frame."""
    payload_bytes: int
    key: tuple[int, int]
    """TCP: IP identification and sequence number, which tells a retransmission from the original. UDP: 0, and the first
    four bytes of the payload."""
    protocol: str = "tcp"
    """`tcp` or `udp`."""


def read(path: Path) -> Iterator[Segment]:
    """The TCP segments and UDP datagrams with payload in a nanosecond pcap of Ethernet frames."""
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
        inner = ip + 4 * (data[ip] & 0xF)
        total, identification = struct.unpack_from(">HH", data, ip + 2)
        time = seconds * 10**9 + nanoseconds
        if data[ip + 9] == UDP:
            (number,) = struct.unpack_from("<I", data, inner + 8)
            yield Segment(time, size, total - (inner - ip) - 8, (0, number), "udp")
            continue
        (sequence,) = struct.unpack_from(">I", data, inner + 4)
        payload = total - (inner - ip) - 4 * (data[inner + 12] >> 4)
        if payload:
            yield Segment(time, size, payload, (identification, sequence))
