"""Deficit round robin (Shreedhar and Varghese 1996), a queue for each flow."""

from __future__ import annotations

from collections import deque
from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Queue


class Fq(Queue):
    """Flows in turns; who has most gives up its last packet when there is no room.

    The record doesn't say which flows share a queue: this takes them to be apart, as a few flows in many queues are.
    """

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self._flows: dict[str, deque[Packet]] = {}
        self._bytes: dict[str, int] = {}
        self._deficit: dict[str, int] = {}
        self._active: deque[str] = deque()
        self._in_turn = False
        super().__init__(link, seed)

    def enqueue(self, packet: Packet, now: int) -> None:
        """Take an arriving packet: it waits then, or is dropped."""
        flow = packet.flow
        waiting = self._flows.setdefault(flow, deque())
        if not waiting:
            self._active.append(flow)
            self._deficit[flow] = 0
        waiting.append(packet)
        self._bytes[flow] = self._bytes.get(flow, 0) + packet.size
        self.count(packet)
        while self.over_limit():
            longest = max(self._active, key=lambda flow: self._bytes[flow])
            last = self._flows[longest].pop()
            self._remove(longest, last)
            if last is packet:
                last.drop("dropped-tail", now)
            else:
                last.drop("dropped-head", now, waited=True)

    def _remove(self, flow: str, packet: Packet) -> None:
        self.uncount(packet)
        self._bytes[flow] -= packet.size
        if not self._flows[flow]:
            if self._active[0] == flow:
                self._in_turn = False
            self._active.remove(flow)

    def dequeue(self, now: int) -> Packet | None:
        """The next to be served, if any is left."""
        while self._active:
            flow = self._active[0]
            if not self._in_turn:
                self._deficit[flow] += self.spec["quantum_bytes"]
                self._in_turn = True
            head = self._flows[flow][0]
            if head.size <= self._deficit[flow]:
                self._deficit[flow] -= head.size
                self._flows[flow].popleft()
                self._remove(flow, head)
                return head
            self._active.rotate(-1)
            self._in_turn = False
        return None

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        drained = [packet for flow in self._active for packet in self._flows[flow]]
        self._flows.clear()
        self._active.clear()
        self._bytes.clear()
        self.bytes = self.packets = 0
        self._in_turn = False
        return drained
