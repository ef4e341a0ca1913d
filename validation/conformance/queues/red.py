"""Random Early Detection (Floyd and Jacobson 1993, figure 2), and ARED (Floyd, Gummadi, Shenker 2001, figure 3)."""

from __future__ import annotations

from typing import Any

from validation.conformance.packet import Packet
from validation.conformance.queues.base import Single
from validation.conformance.random import Stream

ADAPT_EVERY = 500_000_000


class Red(Single):
    """RED in bytes, gentle or not, adaptive or not.

    The nth packet that comes has the nth random number, whether it is asked for or not. An idle queue's average is aged
    by the packets of average size that the link's rate could have carried meanwhile.
    """

    def __init__(self, link: dict[str, Any], seed: int) -> None:
        super().__init__(link, seed)
        self._numbers = Stream(seed, f"{self.name}/queue")
        self._arrivals = 0
        self._max_p = self.spec["max_p"]
        self._average = 0.0
        self._count = -1
        self._empty_since: int | None = 0
        self._next_step: int | None = None
        self._packet_ns = 8e9 * self.spec["average_packet_bytes"] / link["rate_bps"]

    def _aged(self, now: int) -> float:
        """The average, if nothing has come since the queue became empty."""
        if self._empty_since is None:
            return self._average
        return float(self._average * (1 - self.spec["weight"]) ** ((now - self._empty_since) / self._packet_ns))

    def _adapt_until(self, now: int) -> None:
        self._next_step = self._next_step or now + ADAPT_EVERY
        while self._next_step <= now:
            if self.spec["adaptive"]:
                self._adapt(self._aged(self._next_step))
            self._next_step += ADAPT_EVERY

    def _adapt(self, average: float) -> None:
        low, high = self.spec["min_th_bytes"], self.spec["max_th_bytes"]
        if average > low + 0.6 * (high - low) and self._max_p <= 0.5:
            self._max_p += min(0.01, self._max_p / 4)
        elif average < low + 0.4 * (high - low) and self._max_p >= 0.01:
            self._max_p *= 0.9

    def _probability(self) -> float:
        """`p_b`; 1 or more where everything is dropped."""
        low, high, max_p = self.spec["min_th_bytes"], self.spec["max_th_bytes"], self._max_p
        if self._average < high:
            return float(max_p * (self._average - low) / (high - low))
        if not self.spec["gentle"] or self._average >= 2 * high:
            return 2.0
        return float(max_p + (1 - max_p) * (self._average - high) / high)

    def enqueue(self, packet: Packet, now: int) -> None:
        """Figure 2, for each arrival."""
        self._adapt_until(now)
        number = self._arrivals
        self._arrivals += 1
        if self._empty_since is None:
            self._average += self.spec["weight"] * (self.bytes - self._average)
        else:
            self._average = self._aged(now)
            self._empty_since = now
        if not self.has_room(packet.size):
            packet.drop("dropped-tail", now)
            return
        p_b = self._probability()
        if p_b > 1:
            self._count = 0
            packet.drop("dropped-early", now)
            return
        if self._average < self.spec["min_th_bytes"]:
            self._count = -1
        else:
            self._count += 1
            left = 1 - self._count * p_b
            if self._numbers.below(p_b / left if left > p_b else 1.0, number):
                self._count = 0
                if not (self.spec["ecn"] and packet.congested("early")):
                    packet.drop("dropped-early", now)
                    return
        self._empty_since = None
        self._push(packet)

    def dequeue(self, now: int) -> Packet | None:
        """The head."""
        self._adapt_until(now)
        packet = self._pop()
        if packet is not None and not self._waiting:
            self._empty_since = now
        return packet
