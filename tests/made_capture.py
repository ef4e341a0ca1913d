"""Captures made packet by packet, for tests."""

from __future__ import annotations

import struct

FIN, SYN, RST, ACK = 1, 2, 4, 16
HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 54, 1)


def packet(
    at_us: int,
    number: int,
    flags: int,
    seq: int,
    ack: int,
    payload: int = 0,
    *,
    back: bool = False,
    port: int = 40_000,
    window: int = 60_000,
    options: bytes = b"",
    around: bytes = b"\x08\0",
    snaplen: int = 200,
) -> bytes:
    """A record: Ethernet, IPv4, TCP, from 10.0.0.1:port to 10.0.0.2:80, or back. `around`: what is between the
    addresses on the link and the IP header."""
    ends = [(b"\x0a\0\0\1", port), (b"\x0a\0\0\2", 80)]
    (source, sport), (destination, to) = reversed(ends) if back else ends
    length = 40 + len(options) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length, number % 65_536, 0, 64, 6, 0) + source + destination
    offset = 0x50 + (len(options) // 4 << 4)
    tcp = struct.pack(">HHIIBBHHH", sport, to, seq % 2**32, ack % 2**32, offset, flags, window, 0, 0) + options
    frame = (bytes(12) + around + ip + tcp)[:snaplen]
    full = 12 + len(around) + length
    return struct.pack("<IIII", at_us // 1_000_000, at_us % 1_000_000, len(frame), full) + frame


def handshake(port: int = 40_000, at_us: int = 0) -> list[bytes]:
    """A handshake of 100 ms, seen at the client: its data begin at 1000, and those of the server at 5000."""
    return [
        packet(at_us, 1, SYN, 999, 0, port=port),
        packet(at_us + 100_000, 2, SYN | ACK, 4_999, 1_000, back=True, port=port),
        packet(at_us + 100_000, 3, ACK, 1_000, 5_000, port=port),
    ]


def lossy() -> bytes:
    """Ten segments of 1000 bytes, of which the third is repaired fast after three duplicate ACKs."""
    parts = handshake()
    parts += [packet(200_000, 4 + n, ACK, 1_000 + 1_000 * n, 5_000, 1_000) for n in range(10)]
    parts += [packet(300_000, 20 + n, ACK, 5_000, 3_000, back=True) for n in range(4)]
    parts += [packet(301_000, 30, ACK, 3_000, 5_000, 1_000), packet(401_000, 31, ACK, 5_000, 11_000, back=True)]
    return HEAD + b"".join(parts)


def long(segments: int = 2_000, step_us: int = 1_000, port: int = 40_000) -> bytes:
    """A long flow with 20 ms to its receiver: every hundredth segment is lost, and sent again 30 ms later."""
    records: list[tuple[int, bytes]] = []
    got: set[int] = set()
    arrivals: list[tuple[int, int]] = []
    for n in range(segments):
        at = 200_000 + step_us * n
        sendings = [at] if n % 100 != 50 else [at, at + 30_000]
        for copy, sent in enumerate(sendings):
            records.append((sent, packet(sent, n + 30_000 * copy, ACK, 1_000 + 1_000 * n, 5_000, 1_000, port=port)))
        arrivals.append((sendings[-1] + 10_000, n))
    reached = 0
    for at, n in sorted(arrivals):
        got.add(n)
        while reached in got:
            reached += 1
        acked = at + 10_000
        records.append((acked, packet(acked, n, ACK, 5_000, 1_000 + 1_000 * reached, back=True, port=port)))
    return HEAD + b"".join([*handshake(port), *(one for _, one in sorted(records, key=lambda one: one[0]))])
