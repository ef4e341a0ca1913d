"""The parts that every queue has."""

from __future__ import annotations

from collections import deque
from typing import Any

from validation.conformance.packet import Packet


class Queue:
    """A queue discipline. It sets the fate of what it drops."""

    passes_by = False
    """A packet that finds the serializer free doesn't touch the queue."""

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self.seed, self.name = seed, link["name"]
        self.bytes = 0
        self.packets = 0
        self.configure(link)

    def configure(self, link: dict[str, Any]) -> None:
        """Take the parameters of a link, now or when an event changes them."""
        self.spec: dict[str, Any] = link["queue"]
        buffer = link["buffer"]
        self._limit_bytes = buffer.get("bytes") if isinstance(buffer, dict) else None
        self._limit_packets = buffer.get("packets") if isinstance(buffer, dict) else None

    def has_room(self, size: int, packets: int = 1) -> bool:
        """For so much beside what waits."""
        if self._limit_bytes is not None:
            return bool(self.bytes + size <= self._limit_bytes)
        return self._limit_packets is None or self.packets + packets <= self._limit_packets

    def over_limit(self) -> bool:
        """More waits than may."""
        return not self.has_room(0, 0)

    def count(self, packet: Packet) -> None:
        """Count a packet that waits now."""
        self.bytes += packet.size
        self.packets += 1

    def uncount(self, packet: Packet) -> None:
        """Count a packet that waits no longer."""
        self.bytes -= packet.size
        self.packets -= 1

    def enqueue(self, packet: Packet, now: int) -> None:
        """Take an arriving packet: it waits then, or is dropped."""
        raise NotImplementedError

    def dequeue(self, now: int) -> Packet | None:
        """The next to be served, if any is left."""
        raise NotImplementedError

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        raise NotImplementedError


class Single(Queue):
    """A queue that serves in the order of arrival."""

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self._waiting: deque[Packet] = deque()
        super().__init__(link, seed)

    def _push(self, packet: Packet) -> None:
        self._waiting.append(packet)
        self.count(packet)

    def _pop(self) -> Packet | None:
        if not self._waiting:
            return None
        packet = self._waiting.popleft()
        self.uncount(packet)
        return packet

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        drained = list(self._waiting)
        self._waiting.clear()
        self.bytes = self.packets = 0
        return drained
