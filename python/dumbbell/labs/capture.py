"""Captures of a lab's frames: at an interface of a node as pcap, of links as pcapng with what the links did to each.

Frames of an interface come at once. Those of links are sorted at the end of a capture, or come when a link is done with
them.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field
from pathlib import Path
from typing import IO, Final

from dumbbell.engines.events import Event
from dumbbell.errors import RunFailed
from dumbbell.frozen import dataclass
from dumbbell.labs.agent import Connection
from dumbbell.labs.network import Network

HEADER: Final = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1)
"""Nanoseconds, version 2.4, UTC, whole frames, Ethernet."""
SO_TIMESTAMPNS: Final = 35
LARGEST: Final = 262_144
_SOL_PACKET: Final = 263
_PACKET_STATISTICS: Final = 6
"""packet(7)."""
_LOOK_S: Final = 0.5
"""Time between looks at whether the capture is to end."""
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


def capture(lab: Path, place: Place, out: IO[bytes], seconds: float | None = None, *, follows: bool = False) -> int:
    """Write the frames at a place until Ctrl-C. Returns their number.

    Args:
        lab: the lab's directory.
        place: an interface, whose frames of both directions are written as they come, as pcap with the kernel's times;
            or links, whose frames are written at the end, as pcapng: as they came to each link, with its decision as a
            comment, and as they left it.
        out: gets the file.
        seconds: end after this time.
        follows: frames of links are written while they come, in the order in which links are done with them. Frames for
            which `out` is too slow are left out and counted in the file.

    Raises:
        RunFailed: there is no such interface, or the lab has ended.
    """
    if place.links and follows:
        return _follow_links(lab, place.links, out, seconds)
    if place.links:
        return _capture_links(lab, place.links, out, seconds)
    count = -1
    with suppress(KeyboardInterrupt):
        for part in parts(lab, place.node, place.interface, seconds):
            out.write(part)
            out.flush()
            count += 1
    return max(count, 0)


@dataclass
class Follower:
    """Reader of the parts of a capture in another thread."""

    stopped: threading.Event = field(default_factory=threading.Event)
    """Set it to end the capture."""
    lost: int = 0
    """Frames for which the socket had no room."""

    def count(self, sees: socket.socket) -> None:
        """Add what the kernel has dropped since it was asked last."""
        _, dropped = struct.unpack("II", sees.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        self.lost += dropped


def parts(
    lab: Path, node: str, interface: str, seconds: float | None = None, follower: Follower | None = None
) -> Iterator[bytes]:
    """The parts of a pcap file as `capture` writes it: its header, and then each frame as it comes. Raises likewise."""
    follower = follower or Follower()
    with Connection(lab, {"do": "capture", "node": node, "interface": interface}) as connection:
        connection.answer()
        sees = socket.socket(fileno=connection.descriptors.pop())
    deadline = None if seconds is None else time.monotonic() + seconds
    with sees:
        yield HEADER
        counted = time.monotonic()
        while not follower.stopped.is_set() and (deadline is None or time.monotonic() < deadline):
            left = _LOOK_S if deadline is None else max(0.0, min(_LOOK_S, deadline - time.monotonic()))
            if time.monotonic() > counted + _LOOK_S:
                counted = time.monotonic()
                follower.count(sees)
            if not select.select([sees], [], [], left)[0]:
                if not lab.exists():
                    break
                continue
            frame, stamps, _, _ = sees.recvmsg(LARGEST, 64)
            s, ns = struct.unpack("qq", stamps[0][2]) if stamps else divmod(time.time_ns(), 10**9)
            yield struct.pack("<IIII", s, ns, len(frame), len(frame)) + frame


class LiveLinks:
    """A capture of links that goes on: `descriptor` is a stream of pcapng, whose reader has to close it.

    Closing this ends the stream.
    """

    def __init__(self, lab: Path, links: Sequence[str]) -> None:
        """Begin. Raises `RunFailed` if there is no such link, or the lab has ended."""
        # The pipe needs no name once both ends are open: nothing is left, whatever ends this process.
        with tempfile.TemporaryDirectory(prefix="dumbbell-capture-", dir=_place()) as directory:
            pipe = Path(directory, _FILE)
            os.mkfifo(pipe, 0o600)
            # Else the lab could not open its end.
            self.descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                self._connection = _capturing(lab, directory, links, live=True)
            except BaseException:
                os.close(self.descriptor)
                raise
        os.set_blocking(self.descriptor, True)
        with suppress(OSError):  # A user may have too many large pipes: then this one has the usual 64 KiB.
            fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, 1 << 20)

    def fileno(self) -> int:
        """Returns the descriptor of the connection, which is readable when the lab ends."""
        return self._connection.fileno()

    def end(self) -> int:
        """End the capture. Returns the number of frames; 0 if the lab has ended."""
        with suppress(RunFailed), self._connection as connection:
            connection.signal(signal.SIGINT)
            return int(_answer(connection)["frames"])
        return 0

    def close(self) -> None:
        """End the capture."""
        self._connection.close()


def _follow_links(lab: Path, links: Sequence[str], out: IO[bytes], seconds: float | None) -> int:
    live = LiveLinks(lab, links)
    deadline = None if seconds is None else time.monotonic() + seconds
    count: int | None = None
    try:
        with open(live.descriptor, "rb", buffering=0) as stream:
            try:
                while deadline is None or time.monotonic() < deadline:
                    left = None if deadline is None else max(0.0, deadline - time.monotonic())
                    ready, _, _ = select.select([stream.fileno(), live.fileno()], [], [], left)
                    is_there = stream.fileno() in ready
                    # The lab speaks first if it ends.
                    if (ready and not is_there) or (is_there and not _pass_on(stream, out)):
                        break
            except KeyboardInterrupt:
                pass
            count = live.end()
            while _pass_on(stream, out):
                pass
    finally:
        live.close()
    return count


def _pass_on(stream: IO[bytes], out: IO[bytes]) -> int:
    part = stream.read(LARGEST)
    out.write(part)
    out.flush()
    return len(part)


def _place() -> str | None:
    """Directory for temporary files. A lab has a /run of its own."""
    return "/var/tmp" if tempfile.gettempdir().startswith("/run/") else None


def _capturing(lab: Path, directory: str, links: Sequence[str], *, live: bool) -> Connection:
    """A capture of links that has begun."""
    wanted = {"directory": directory, "links": list(links), "live": live}
    connection = Connection(lab, {"do": "capture-links", "capture": wanted})
    try:
        _answer(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _capture_links(lab: Path, links: Sequence[str], out: IO[bytes], seconds: float | None) -> int:
    with ExitStack() as opened:
        # The file needs no name once the lab has it open, too: nothing is left, whatever ends this process.
        with tempfile.TemporaryDirectory(prefix="dumbbell-capture-", dir=_place()) as directory:
            made = os.open(Path(directory, _FILE), os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            file = opened.enter_context(open(made, "rb"))
            connection = opened.enter_context(_capturing(lab, directory, links, live=False))
        # The lab speaks first if it ends.
        with suppress(KeyboardInterrupt):
            select.select([connection], [], [], seconds)
        connection.signal(signal.SIGINT)
        count = int(_answer(connection)["frames"])
        shutil.copyfileobj(file, out)
    out.flush()
    return count


def _answer(connection: Connection) -> Event:
    event: Event = connection.answer()["event"]
    if event["event"] == "refused":
        raise RunFailed(event["what"], event["why"], event["hint"])
    return event
