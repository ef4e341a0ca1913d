"""Flow Queue CoDel, from the text of RFC 8290 section 4."""

from __future__ import annotations

from collections import deque
from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Queue
from validation.conformance.queues.codel import Control

DROP_BATCH = 64


class FqCodel(Queue):
    """A CoDel queue for each flow, in turns; flows that have just become active go first.

    The record doesn't say which flows share a queue: this takes them to be apart, as a few flows in many queues are.
    """

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self._flows: dict[str, Control] = {}
        self._credits: dict[str, int] = {}
        self._new: deque[str] = deque()
        self._old: deque[str] = deque()
        self._mtu = 0
        super().__init__(link, seed)

    def enqueue(self, packet: Packet, now: int) -> None:
        """Take an arriving packet: it waits then, or is dropped."""
        flow = packet.flow
        self._mtu = max(self._mtu, packet.size)
        self._flows.setdefault(flow, Control()).push(packet)
        self.count(packet)
        if flow not in self._new and flow not in self._old:
            self._new.append(flow)
            self._credits[flow] = self.spec["quantum_bytes"]
        while self.over_limit():
            self._drop_batch(packet, now)

    def _drop_batch(self, newest: Packet, now: int) -> None:
        """Half of the longest queue, at most 64 packets, from its head (section 4.1)."""
        longest = max(self._flows.values(), key=lambda control: control.bytes)
        half = longest.bytes // 2
        gone = 0
        for _ in range(DROP_BATCH):
            packet = longest.pop()
            if packet is None:
                break
            gone += packet.size
            self.uncount(packet)
            packet.drop("dropped-head", now, waited=packet is not newest)
            if gone >= half:
                break

    def dequeue(self, now: int) -> Packet | None:
        """The next to be served, if any is left."""
        while self._new or self._old:
            line = self._new or self._old
            flow = line[0]
            if self._credits[flow] <= 0:
                self._credits[flow] += self.spec["quantum_bytes"]
                line.popleft()
                self._old.append(flow)
                continue
            packet, dropped = self._flows[flow].dequeue(self.spec, self._mtu, now)
            for one in dropped:
                self.uncount(one)
                one.drop("dropped-early", now, waited=True)
            if packet is None:
                # A new queue that has run empty becomes old first, so that it can't starve the others by coming back.
                line.popleft()
                if line is self._new:
                    self._old.append(flow)
                continue
            self.uncount(packet)
            self._credits[flow] -= packet.size
            return packet
        return None

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        drained = [packet for flow in (*self._new, *self._old) for packet in self._flows[flow].waiting]
        self._flows.clear()
        self._new.clear()
        self._old.clear()
        self.bytes = self.packets = 0
        return drained
