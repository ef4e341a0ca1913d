"""First in, first out, with threshold marking (RFC 8257 section 3.1)."""

from __future__ import annotations

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Single


class DropTail(Single):
    """A queue that drops the packet that doesn't fit."""

    passes_by = True

    def enqueue(self, packet: Packet, now: int) -> None:
        """At the tail, if there is room; the threshold counts the packet itself."""
        if not self.has_room(packet.size):
            packet.drop("dropped-tail", now)
            return
        self._push(packet)
        match self.spec["ce_threshold"]:
            case {"bytes": limit} if self.bytes > limit:
                packet.congested("threshold")
            case {"packets": limit} if self.packets > limit:
                packet.congested("threshold")

    def dequeue(self, now: int) -> Packet | None:
        """The head; marked if it has waited for too long."""
        packet = self._pop()
        match self.spec["ce_threshold"]:
            case {"sojourn": limit} if packet and now - packet.arrival > limit:
                packet.congested("threshold")
        return packet


class DropHead(DropTail):
    """The oldest make room."""

    def enqueue(self, packet: Packet, now: int) -> None:
        """At the tail, once there is room."""
        while not self.has_room(packet.size) and (oldest := self._pop()):
            oldest.drop("dropped-head", now, waited=True)
        super().enqueue(packet, now)
