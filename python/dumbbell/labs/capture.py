"""Captures of a lab's frames: at an interface of a node as pcap, of links as pcapng with what the links did to each."""

from __future__ import annotations

import select
import shutil
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from dumbbell.engines.events import Event
from dumbbell.errors import RunFailed
from dumbbell.labs.agent import Connection
from dumbbell.labs.network import Network

_HEADER: Final = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1)
"""Nanoseconds, version 2.4, UTC, whole frames, Ethernet."""
SO_TIMESTAMPNS: Final = 35
LARGEST: Final = 262_144
_FILE: Final = "capture.pcapng"
"""File's name, as the crate `records` has it."""


@dataclass(frozen=True)
class Place:
    """Where frames are captured: at an interface of a node, or on links."""

    node: str = ""
    interface: str = ""
    links: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Interface name ("s1-eth2"), as Mininet's, or link name."""
        return " ".join(self.links) or f"{self.node}-{self.interface}"


def place_of(network: Network, words: list[str]) -> Place:
    """Returns the place that words name: `h1`, `h1 eth1`, two nodes for all links between them, or a link.

    Raises:
        InputError: there is none.
    """
    if len(words) == 1 and words[0] in network.places:
        names = [name for name, _ in network.interfaces(words[0])]
        return Place(words[0], names[0])
    if len(words) == 2 and words[0] in network.places and words[1] in dict(network.interfaces(words[0])):
        return Place(words[0], words[1])
    return Place(links=tuple(network.named(*words)))


def capture(lab: Path, place: Place, out: IO[bytes], seconds: float | None = None) -> int:
    """Write the frames at a place until Ctrl-C. Returns their number.

    Args:
        lab: the lab's directory.
        place: an interface, whose frames of both directions are written as they come, as pcap with the kernel's times;
            or links, whose frames are written at the end, as pcapng: as they came to each link, with its decision as a
            comment, and as they left it.
        out: gets the file.
        seconds: end after this time.

    Raises:
        RunFailed: there is no such interface, or the lab has ended.
    """
    if place.links:
        return _capture_links(lab, place.links, out, seconds)
    count = -1
    with suppress(KeyboardInterrupt):
        for part in parts(lab, place.node, place.interface, seconds):
            out.write(part)
            out.flush()
            count += 1
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


def _capture_links(lab: Path, links: Sequence[str], out: IO[bytes], seconds: float | None) -> int:
    # A lab has a /run of its own.
    place = "/var/tmp" if tempfile.gettempdir().startswith("/run/") else None
    with tempfile.TemporaryDirectory(prefix="dumbbell-capture-", dir=place) as directory:
        wanted = {"directory": directory, "links": list(links)}
        with Connection(lab, {"do": "capture-links", "capture": wanted}) as connection:
            _told(connection)
            # The lab speaks first if it ends.
            with suppress(KeyboardInterrupt):
                select.select([connection], [], [], seconds)
            connection.signal(signal.SIGINT)
            count = int(_told(connection)["frames"])
        with Path(directory, _FILE).open("rb") as file:
            shutil.copyfileobj(file, out)
    out.flush()
    return count


def _told(connection: Connection) -> Event:
    event: Event = connection.answer()["event"]
    if event["event"] == "refused":
        raise RunFailed(event["what"], event["why"], event["hint"])
    return event
