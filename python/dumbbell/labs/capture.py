"""Captures of the frames at an interface, as pcap files with nanoseconds."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from dumbbell.errors import InputError
from dumbbell.labs.agent import Connection
from dumbbell.labs.network import Network

_HEADER: Final = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1)
"""Nanoseconds, version 2.4, UTC, whole frames, Ethernet."""
SO_TIMESTAMPNS: Final = 35
LARGEST: Final = 262_144


def place_of(network: Network, words: list[str]) -> tuple[str, str]:
    """The node and interface that words name: `h1`, `h1 eth1`, two nodes, or a link.

    Raises:
        InputError: there is none.
    """
    if len(words) == 1 and words[0] in network.places:
        names = [name for name, _ in network.interfaces(words[0])]
        return words[0], names[0]
    if len(words) == 2 and words[0] in network.places and words[1] in dict(network.interfaces(words[0])):
        return words[0], words[1]
    links = network.named(*words)
    cable = next(cable for cable in network.cables if links[0] in cable.links)
    for node, interface in zip(cable.ends, cable.interfaces, strict=True):
        if node in network.places:
            return node, interface
    why = "both its ends are at switches, which are no namespaces"
    raise InputError(f"nothing to capture at {links[0]}", why, "capture at a host: its name, and an interface")


def capture(lab: Path, node: str, interface: str, out: IO[bytes], seconds: float | None = None) -> int:
    """Write the frames at an interface, of both directions, until Ctrl-C. Returns their number.

    Args:
        lab: the lab's directory.
        node: a host or router.
        interface: the name of its interface.
        out: gets a pcap file, each frame with the kernel's time.
        seconds: end after this time.

    Raises:
        RunFailed: there is no such interface, or the lab has ended.
    """
    count = -1
    try:
        for part in parts(lab, node, interface, seconds):
            out.write(part)
            out.flush()
            count += 1
    except KeyboardInterrupt:
        pass
    return max(count, 0)


def parts(lab: Path, node: str, interface: str, seconds: float | None = None) -> Iterator[bytes]:
    """The parts of a pcap file as `capture` writes it: its header, and then each frame as it comes. Raises likewise."""
    with Connection(lab, {"do": "capture", "node": node, "interface": interface}) as connection:
        connection.answer()
        sees = socket.socket(fileno=connection.descriptors.pop())
    deadline = None if seconds is None else time.monotonic() + seconds
    with sees:
        yield _HEADER
        while deadline is None or time.monotonic() < deadline:
            left = 1.0 if deadline is None else max(0.0, min(1.0, deadline - time.monotonic()))
            if not select.select([sees], [], [], left)[0]:
                if not lab.exists():
                    break
                continue
            frame, stamps, _, _ = sees.recvmsg(LARGEST, 64)
            s, ns = struct.unpack("qq", stamps[0][2]) if stamps else divmod(time.time_ns(), 10**9)
            yield struct.pack("<IIII", s, ns, len(frame), len(frame)) + frame
