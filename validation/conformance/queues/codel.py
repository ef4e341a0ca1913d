"""Controlled Delay, from the pseudocode of RFC 8289 section 5."""

from __future__ import annotations

from collections import deque
from math import isqrt
from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Queue


def control_law(interval: int, count: int) -> int:
    """INTERVAL / sqrt(count), rounded down (RFC 8289 section 5.4)."""
    return isqrt(interval * interval // count)


class Control:
    """CoDel on one queue; several may share a link."""

    def __init__(self) -> None:
        self.waiting: deque[Packet] = deque()
        self.bytes = 0
        self._first_above: int | None = None
        self._drop_next = 0
        self._count = 0
        self._last_count = 0
        self._dropping = False

    def push(self, packet: Packet) -> None:
        """At the tail."""
        self.waiting.append(packet)
        self.bytes += packet.size

    def pop(self) -> Packet | None:
        """The head."""
        if not self.waiting:
            return None
        packet = self.waiting.popleft()
        self.bytes -= packet.size
        return packet

    def dequeue(self, spec: dict[str, Any], mtu: int, now: int) -> tuple[Packet | None, list[Packet]]:
        """The packet to serve, and those that were dropped before it."""
        dropped: list[Packet] = []
        interval: int = spec["interval_ns"]

        def next_one() -> tuple[Packet | None, bool]:
            """`dodequeue` of RFC 8289 section 5.6: a packet, and whether it may be dropped."""
            packet = self.pop()
            if packet is None:
                self._first_above = None
                return None, False
            # `bytes()` is what is left behind the packet; `maxpacket` is the largest that ever came.
            if now - packet.arrival < spec["target_ns"] or self.bytes <= mtu:
                self._first_above = None
                return packet, False
            if self._first_above is None:
                self._first_above = now + interval
                return packet, False
            return packet, now >= self._first_above

        def give_up(packet: Packet) -> bool:
            """Mark instead of drop, where that is possible; `True`: it is dropped."""
            if spec["ecn"] and packet.congested("early"):
                return False
            dropped.append(packet)
            return True

        packet, ok_to_drop = next_one()
        if self._dropping:
            if not ok_to_drop:
                self._dropping = False
            while packet is not None and self._dropping and now >= self._drop_next:
                self._count += 1
                gone = give_up(packet)
                if gone:
                    packet, ok_to_drop = next_one()
                if not ok_to_drop:
                    self._dropping = False
                else:
                    self._drop_next += control_law(interval, self._count)
                if not gone:
                    break  # a mark is a drop, and no other packet is judged in its place
        elif packet is not None and ok_to_drop:
            if give_up(packet):
                packet, _ = next_one()
            self._dropping = True
            # RFC 8289 section 5.5: near the rate that controlled the queue last time, if that is not long ago.
            delta = self._count - self._last_count
            recent = now - self._drop_next < 16 * interval
            self._count = delta if delta > 1 and recent else 1
            self._drop_next = now + control_law(interval, self._count)
            self._last_count = self._count
        threshold = spec["ce_threshold_ns"]
        if packet is not None and threshold is not None and now - packet.arrival > threshold:
            packet.congested("threshold")
        return packet, dropped


class Codel(Queue):
    """A FIFO under CoDel."""

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self._control = Control()
        self._mtu = 0
        super().__init__(link, seed)

    def enqueue(self, packet: Packet, now: int) -> None:
        """Take an arriving packet: it waits then, or is dropped."""
        self._mtu = max(self._mtu, packet.size)
        if not self.has_room(packet.size):
            packet.drop("dropped-tail", now)
            return
        self.count(packet)
        self._control.push(packet)

    def dequeue(self, now: int) -> Packet | None:
        """The next to be served, if any is left."""
        packet, dropped = self._control.dequeue(self.spec, self._mtu, now)
        for one in dropped:
            self.uncount(one)
            one.drop("dropped-early", now, waited=True)
        if packet is not None:
            self.uncount(packet)
        return packet

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        drained = list(self._control.waiting)
        self._control = Control()
        self.bytes = self.packets = 0
        return drained
