"""Reads the captures of runs, and writes parts of them as pcap for tools that know no interfaces."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_INTERFACE, _PACKET = 1, 6
_COMMENT, _NAME = 1, 2


@dataclass(frozen=True)
class Packet:
    """A packet at an interface."""

    interface: str
    time_ns: int
    length: int
    """Bytes on the link."""
    data: bytes
    comment: str


def packets(path: Path, interfaces: Collection[str] = ()) -> Iterator[Packet]:
    """The packets of a run's capture, of all interfaces or of those that are named."""
    names: list[str] = []
    for kind, body in _blocks(path.read_bytes()):
        if kind == _INTERFACE:
            names.append(_options(body, 8)[_NAME].decode())
        elif kind == _PACKET:
            number, high, low, captured, length = struct.unpack_from("<5I", body)
            if interfaces and names[number] not in interfaces:
                continue
            options = _options(body, 20 + (captured + 3) // 4 * 4)
            comment = options.get(_COMMENT, b"").decode()
            yield Packet(names[number], high << 32 | low, length, body[20 : 20 + captured], comment)


def as_pcap(packets: Iterable[Packet]) -> bytes:
    """Packets as pcap, with times in us."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 128, 1)]
    for one in packets:
        us = one.time_ns // 1000
        parts.append(struct.pack("<4I", us // 1_000_000, us % 1_000_000, len(one.data), one.length) + one.data)
    return b"".join(parts)


def _blocks(pcapng: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and body of each block."""
    at = 0
    while at < len(pcapng):
        kind, size = struct.unpack_from("<II", pcapng, at)
        yield kind, pcapng[at + 8 : at + size - 4]
        at += size


def _options(body: bytes, at: int) -> dict[int, bytes]:
    """The last value of each option, from `at` on."""
    found: dict[int, bytes] = {}
    while at + 4 <= len(body):
        code, size = struct.unpack_from("<HH", body, at)
        if code == 0:
            break
        found[code] = body[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    return found
