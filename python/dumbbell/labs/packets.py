"""The latest packets at a place of a lab, decoded, in bounded memory: they follow a capture while it goes on."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dumbbell._core import PacketList
from dumbbell.frozen import dataclass
from dumbbell.labs.capture import Follower, LiveLinks, Place, parts

MOST: Final = 20_000
"""Packets that are kept."""
MOST_BYTES: Final = 32_000_000


@dataclass(frozen=True)
class State:
    """How far a list is."""

    is_over: bool
    lost: int
    """Packets that came faster than they were read."""
    first: int
    """Number of the oldest packet that is kept."""
    end: int
    """Number of the packet that comes next."""


class Packets:
    """A list of packets, which is read in threads of its own from the beginning on."""

    def __init__(self, lab: Path, place: Place) -> None:
        """Begin to capture.

        Raises:
            RunFailed: there is no such place, or the lab has ended.
        """
        self.place = place
        self._follower = Follower()
        self._links: LiveLinks | None = None
        self._stopping = threading.Lock()
        if place.links:
            self._links = LiveLinks(lab, place.links)
            self._list = PacketList(self._links.descriptor, "", MOST, MOST_BYTES)
            return
        stream = parts(lab, place.node, place.interface, follower=self._follower)
        head = next(stream)
        reader, writer = os.pipe()
        self._list = PacketList(reader, str(place), MOST, MOST_BYTES)
        threading.Thread(target=_pour, args=(head, stream, writer), name="packets", daemon=True).start()

    @property
    def state(self) -> State:
        """How far the list is."""
        is_over, dropped, first, end = self._list.state()
        return State(is_over, dropped + self._follower.lost, first, end)

    def rows(self, since: int, most: int, words: str) -> tuple[list[dict[str, Any]], int]:
        """Returns the first `most` packets from number `since` on in which all words occur, and where to go on.

        A word is a whole word of a packet's line, such as `tcp`, `SYN`, `10.0.0.1` or a port; `!` before it excludes
        packets that have it.
        """
        text, following = self._list.rows(since, most, words)
        found: list[dict[str, Any]] = json.loads(text)
        return found, following

    def whole(self, number: int) -> dict[str, Any] | None:
        """Returns a packet with all fields of its headers; `None` if it is no longer kept."""
        text = self._list.whole(number)
        found: dict[str, Any] | None = None if text is None else json.loads(text)
        return found

    def pcapng(self, words: str = "") -> bytes:
        """Returns the packets in which all words occur as a pcapng file."""
        return self._list.pcapng(words)

    def stop(self) -> None:
        """End the capture. What has come stays."""
        self._follower.stopped.set()
        with self._stopping:
            links, self._links = self._links, None
        if links is not None:
            links.end()
            links.close()


def _pour(head: bytes, stream: Iterator[bytes], writer: int) -> None:
    """Write the parts of a capture into a pipe until it ends, or nobody reads."""
    with suppress(OSError), open(writer, "wb", buffering=0) as pipe:
        pipe.write(head)
        for part in stream:
            left = memoryview(part)
            while left:
                left = left[pipe.write(left) or 0 :]
