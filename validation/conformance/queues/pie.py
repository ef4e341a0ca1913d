"""Proportional Integral controller Enhanced, from the pseudocode of RFC 8033 appendix A and the text of section 5."""

from __future__ import annotations

from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Single
from validation.conformance.random import Stream

MEAN_PKTSIZE = 1024


class Pie(Single):
    """PIE with timestamps (section 4.3), ECN (5.1), de-randomisation (5.4) and the cap on adjustments (5.5).

    The nth packet that comes has the nth random number, whether it is asked for or not. The first one starts the clock
    of the updates.
    """

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        super().__init__(link, seed)
        self._numbers = Stream(seed, f"{self.name}/queue")
        self._arrivals = 0
        self._next_update: int | None = None
        self._last_wait = self._qdelay_old = 0
        self._drop_prob = self._accu_prob = 0.0
        self._burst_allowance = self.spec["max_burst_ns"]

    def _qdelay(self) -> int:
        return self._last_wait if self._waiting else 0

    def _update_until(self, now: int) -> None:
        self._next_update = self._next_update or now + self.spec["t_update_ns"]
        while self._next_update <= now:
            self._next_update += self.spec["t_update_ns"]
            self._calculate()

    def _calculate(self) -> None:
        """`calculate_drop_prob`."""
        qdelay = self._qdelay()
        p = self.spec["alpha"] * ((qdelay - self.spec["target_ns"]) / 1e9)
        p += self.spec["beta"] * ((qdelay - self._qdelay_old) / 1e9)
        for below, divisor in ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2)):
            if self._drop_prob < below:
                p /= divisor
                break
        else:
            p = min(p, 0.02)
        self._drop_prob += p
        if qdelay == 0 and self._qdelay_old == 0:
            self._drop_prob *= 0.98
        self._drop_prob = min(max(self._drop_prob, 0.0), 1.0)
        self._qdelay_old = qdelay
        self._burst_allowance = max(0, self._burst_allowance - self.spec["t_update_ns"])

    def _drops_early(self, number: int) -> bool:
        """`drop_early`."""
        if self._qdelay_old < self.spec["target_ns"] / 2 and self._drop_prob < 0.2:
            return False
        if self.bytes <= 2 * MEAN_PKTSIZE:
            return False
        if self._drop_prob == 0:
            self._accu_prob = 0.0
        self._accu_prob += self._drop_prob
        if self._accu_prob < 0.85:
            return False
        if self._accu_prob < 8.5 and not self._numbers.below(self._drop_prob, number):
            return False
        self._accu_prob = 0.0
        return True

    def enqueue(self, packet: Packet, now: int) -> None:
        """Take an arriving packet: it waits then, or is dropped."""
        self._update_until(now)
        number = self._arrivals
        self._arrivals += 1
        if not self.has_room(packet.size):
            packet.drop("dropped-tail", now)
            return
        calm = self.spec["target_ns"] / 2
        if self._drop_prob == 0 and self._qdelay() < calm and self._qdelay_old < calm:
            self._burst_allowance = self.spec["max_burst_ns"]
        if self._burst_allowance == 0 and self._drops_early(number):
            may_mark = self.spec["ecn"] and self._drop_prob < self.spec["mark_ecnth"]
            if not (may_mark and packet.congested("early")):
                packet.drop("dropped-early", now)
                return
        self._push(packet)

    def dequeue(self, now: int) -> Packet | None:
        """The next to be served, if any is left."""
        self._update_until(now)
        packet = self._pop()
        if packet is not None:
            self._last_wait = now - packet.arrival
        return packet
