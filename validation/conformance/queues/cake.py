"""CAKE, from "Piece of CAKE" (2018) and tc-cake(8), and COBALT, as `docs/explanation/links.md` settles what those leave
open."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Queue
from validation.conformance.queues.codel import control_law
from validation.conformance.random import Stream

UNIT = 1 << 16
"""Credits are counted in this part of a byte, shares of a quantum are rounded down to it."""

CERTAIN = 4096
"""Steps of BLUE's probability: an overflow adds 16 (1/256), an empty queue takes 1."""


@dataclass
class Flow:
    """A flow's queue, its place in the turns and COBALT's memory of it."""

    hosts: tuple[str, str]
    waiting: deque[Packet] = field(default_factory=deque)
    bytes: int = 0
    credit: int = 0
    place: str = ""
    """`sparse`, `idling` (among the bulk ones, without packets) or `bulk`; empty if it has no turn."""
    above: bool = False
    """CoDel signals: the wait has been above target since the flow's last packet below it."""
    signals: int = 0
    due: int = 0
    """When CoDel signals the next time, or, outside, forgets one of the signals."""
    blue: int = 0
    blue_since: int = 0

    def pop(self) -> Packet:
        """The head."""
        packet = self.waiting.popleft()
        self.bytes -= packet.size
        return packet


class Cake(Queue):
    """One tin; flows in turns, hosts before flows if isolation is triple.

    The record doesn't say which flows share a queue: eight flows never do, as a set has room for so many.
    """

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self._flows: dict[str, Flow] = {}
        self._sparse: deque[Flow] = deque()
        self._bulk: deque[Flow] = deque()
        self._mtu = 0
        self._judged = 0
        self._lots = Stream(seed, f"{link['name']}/queue/blue")
        super().__init__(link, seed)

    def _share(self, flow: Flow) -> int:
        """A turn's worth: the quantum, divided by the bulk flows of the busier of its two hosts."""
        busy = 1
        if self.spec["isolation"] == "triple-isolate":
            bulk = [other for other in self._bulk if other.place == "bulk"]
            for end in (0, 1):
                busy = max(busy, Counter(other.hosts[end] for other in bulk)[flow.hosts[end]])
        return int(self.spec["quantum_bytes"]) * UNIT // busy

    def enqueue(self, packet: Packet, now: int) -> None:
        """Take an arriving packet: it waits then, or is dropped."""
        flow = self._flows.setdefault(packet.flow, Flow(packet.hosts))
        if not flow.waiting:
            self._rest(flow, now)
        self._mtu = max(self._mtu, packet.size)
        flow.waiting.append(packet)
        flow.bytes += packet.size
        self.count(packet)
        if flow.place == "":
            flow.place, flow.credit = "sparse", self._share(flow)
            self._sparse.append(flow)
        elif flow.place == "idling":
            flow.place = "bulk"
        while self.over_limit():
            longest = max(self._flows.values(), key=lambda flow: flow.bytes)
            first = longest.pop()
            self.uncount(first)
            self._overflowed(longest, now)
            if first is packet:
                first.drop("dropped-tail", now)
            else:
                first.drop("dropped-head", now, waited=True)

    def dequeue(self, now: int) -> Packet | None:
        """The next to be served, if any is left."""
        while flow := self._turn():
            packet = self._judge(flow, now)
            if packet is not None:
                flow.credit -= packet.size * UNIT
                return packet
            self._found_empty(flow, now)
            self._skip(flow)
        return None

    def _turn(self) -> Flow | None:
        while self._sparse or self._bulk:
            line = self._sparse or self._bulk
            flow = line[0]
            if flow.credit > 0:
                return flow
            if flow.place == "sparse":
                # It goes to the bulk ones first: it counts among its hosts' flows when its share is worked out.
                flow.place = "bulk" if flow.waiting else "idling"
            line.popleft()
            self._bulk.append(flow)
            flow.credit += self._share(flow)
        return None

    def _skip(self, flow: Flow) -> None:
        """A sparse flow without packets waits among the bulk ones for a turn; one of those has none any more."""
        if flow.place == "sparse":
            self._sparse.popleft()
            self._bulk.append(flow)
            flow.place = "idling"
        else:
            self._bulk.popleft()
            flow.place = ""

    def _judge(self, flow: Flow, now: int) -> Packet | None:
        """The flow's next packet that COBALT lets go."""
        while flow.waiting:
            packet = flow.pop()
            self.uncount(packet)
            late = now - packet.arrival > self.spec["target_ns"] and flow.bytes > self._mtu
            signal = self._codel(flow, late, now)
            marks = signal and self.spec["ecn"] and packet.ecn != "not-ect"
            unlucky = self._lots.below(flow.blue / CERTAIN, self._judged)
            self._judged += 1
            if (unlucky and flow.waiting) or (signal and not marks):
                packet.drop("dropped-early", now, waited=True)
                continue
            if marks:
                packet.congested("early")
            return packet
        return None

    def _codel(self, flow: Flow, late: bool, now: int) -> bool:
        if not late or not flow.above:
            self._forget(flow, now)
        if not late:
            flow.above = False
            return False
        interval = self.spec["interval_ns"]
        if not flow.above:
            flow.above = True
            flow.signals = flow.signals or 1
            flow.due = now + control_law(interval, flow.signals)
        if flow.due > now:
            return False
        flow.signals += 1
        flow.due += control_law(interval, flow.signals)
        return True

    def _forget(self, flow: Flow, now: int) -> None:
        while flow.signals and flow.due <= now:
            flow.signals -= 1
            flow.due += control_law(self.spec["interval_ns"], flow.signals or 1)

    def _overflowed(self, flow: Flow, now: int) -> None:
        if now - flow.blue_since > self.spec["target_ns"]:
            flow.blue, flow.blue_since = min(flow.blue + CERTAIN // 256, CERTAIN), now
        flow.above, flow.due, flow.signals = True, now, flow.signals or 1

    def _found_empty(self, flow: Flow, now: int) -> None:
        flow.above = False
        self._forget(flow, now)
        if flow.blue and now - flow.blue_since > self.spec["target_ns"]:
            flow.blue, flow.blue_since = flow.blue - 1, now

    def _rest(self, flow: Flow, now: int) -> None:
        """All that an empty queue has forgotten when a packet comes to it."""
        flow.above = False
        self._forget(flow, now)
        if flow.blue:
            times = (now - flow.blue_since) // self.spec["target_ns"]
            flow.blue = max(flow.blue - times, 0)
            flow.blue_since += times * self.spec["target_ns"]

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        return list(self._drain())

    def _drain(self) -> Iterator[Packet]:
        while flow := self._turn():
            if flow.waiting:
                packet = flow.pop()
                self.uncount(packet)
                flow.credit -= packet.size * UNIT
                yield packet
            else:
                flow.above = False
                self._skip(flow)
