"""DualPI2, from RFC 9332 section 4 and the pseudocode of its appendix A."""

from __future__ import annotations

from collections import deque
from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Queue


class Recur:
    """`recur` of appendix A.1: as often as the likelihood says, at even distances."""

    def __init__(self) -> None:
        self._sum = 0.0

    def __call__(self, likelihood: float) -> bool:
        """Does it happen now?"""
        self._sum += likelihood
        if self._sum < 1:
            return False
        self._sum -= 1
        return True


class DualPi2(Queue):
    """The coupled dual queue.

    The choices that the RFC leaves: both queues share the buffer; the base probability follows the longer of the two
    heads' waits; the scheduler serves L first, but each of its bytes that goes while C waits earns C its share of one,
    and C goes when its head is paid for.
    """

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        self._low: deque[Packet] = deque()
        self._classic: deque[Packet] = deque()
        super().__init__(link, seed)
        self._low_marks, self._classic_marks = Recur(), Recur()
        self._base = 0.0
        self._previous = 0
        self._next_update: int | None = None
        self._earned = 0.0

    def _update_until(self, now: int) -> None:
        """`dualpi2_update` of appendix A.1."""
        self._next_update = self._next_update or now + self.spec["t_update_ns"]
        while self._next_update <= now:
            waits = [self._next_update - queue[0].arrival for queue in (self._low, self._classic) if queue]
            current = max(waits, default=0)
            change = self.spec["alpha"] * (current - self.spec["target_ns"]) / 1e9
            change += self.spec["beta"] * (current - self._previous) / 1e9
            self._base = min(max(self._base + change, 0.0), 1.0)
            self._previous = current
            self._next_update += self.spec["t_update_ns"]

    def enqueue(self, packet: Packet, now: int) -> None:
        """Into L by its codepoint (section 2.4.2), or into C."""
        self._update_until(now)
        if not self.has_room(packet.size):
            packet.drop("dropped-tail", now)
            return
        self.count(packet)
        (self._low if packet.ecn in ("ect1", "ce") else self._classic).append(packet)

    def dequeue(self, now: int) -> Packet | None:
        """`dualpi2_dequeue` of appendix A.1, with the overload of A.2."""
        self._update_until(now)
        while self._low or self._classic:
            queue = self._turn()
            packet = queue.popleft()
            self.uncount(packet)
            if self._passes_low(packet, now) if queue is self._low else self._passes_classic(packet):
                return packet
            packet.drop("dropped-early", now, waited=True)
        return None

    def _turn(self) -> deque[Packet]:
        if not (self._low and self._classic):
            self._earned = 0.0
            return self._low or self._classic
        share = self.spec["classic_share"]
        if self._earned >= (1 - share) * self._classic[0].size:
            self._earned -= (1 - share) * self._classic[0].size
            return self._classic
        self._earned += share * self._low[0].size
        return self._low

    def _passes_low(self, packet: Packet, now: int) -> bool:
        coupled = self.spec["k"] * self._base
        if coupled >= 1:
            return not self._low_marks(self._base**2) and packet.congested("coupled")
        native = self._native(now - packet.arrival) if self._low else 0.0
        if self._low_marks(max(native, coupled)):
            packet.congested("threshold" if native >= coupled else "coupled")
        return True

    def _native(self, wait: int) -> float:
        """`laqm`: a ramp over the packet's wait."""
        begin, span = self.spec["min_th_ns"], self.spec["range_ns"]
        if wait <= begin:
            return 0.0
        return 1.0 if wait >= begin + span else (wait - begin) / span

    def _passes_classic(self, packet: Packet) -> bool:
        if not self._classic_marks(self._base**2):
            return True
        return self.spec["k"] * self._base < 1 and packet.congested("early")

    def drain(self) -> list[Packet]:
        """All that wait; the queue is empty then."""
        drained = [*self._low, *self._classic]
        self._low.clear()
        self._classic.clear()
        self.bytes = self.packets = 0
        return drained
