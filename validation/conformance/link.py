"""One link: its parts in their order, and what happens when."""

from __future__ import annotations

from collections import deque
from typing import Any

from validation.conformance.capacity import BYTE, Work, opportunities, steps_of
from validation.conformance.chance import Chance
from validation.conformance.loss import Losses
from validation.conformance.packet import Packet
from validation.conformance.policer import Policer
from validation.conformance.queues import queue

Versions = list[tuple[int, dict[str, Any]]]
"""A link as it is from a time on; the first from 0."""


class Link:
    """Loss before -> policer -> queue -> slots -> serializer -> marking -> propagation -> loss after.

    Not modelled, and refused: duplication, jitter, reordering, corruption, slots at random, links without a rate.
    What is due at a time happens before what arrives at that time: first what leaves, then slots, then changes.
    """

    def __init__(self, versions: Versions, seed: int, end: int) -> None:
        for _, link in versions:
            refuse_unmodelled(link)
        self._changes = deque(versions[1:])
        self._spec = link = versions[0][1]
        name = link["name"]
        self._before = Losses(link["loss_before"], seed, f"{name}/loss-before")
        self._after = Losses(link["loss_after"], seed, f"{name}/loss-after")
        self._marking = Chance(link.get("marking"), seed, f"{name}/marking")
        self._policer = Policer(link["policer"]) if link["policer"] else None
        self._queue = queue(link, seed)
        self._seed = seed
        slots = link["slots"]
        self._slot = slots["min_interval_ns"] if slots else None
        self._aggregate: deque[Packet] = deque()
        variation = link["variation"]
        self._by_opportunities = variation is not None and variation["kind"] == "opportunities"
        self._opportunities = opportunities(variation) if self._by_opportunities else iter(())
        self._opportunity = next(self._opportunities, None)
        self._work = None if self._by_opportunities else Work(steps_of(versions, end))
        self._in_service: Packet | None = None
        self._end_work = 0
        """The end of the packet in service or of the last one; under opportunities, its bytes that are still to go."""
        self._propagating: deque[int] = deque()
        self._last_delivery = 0

    def run(self, packets: list[Packet]) -> None:
        """Carry all packets to their fates. They come in this order."""
        for packet in packets:
            self._advance(packet.arrival)
            self._arrive(packet, packet.arrival)
        self._advance(None)

    def _next(self) -> tuple[int, int] | None:
        """When something happens next, and what (0: what leaves, 1: a slot, 2: a change)."""
        events = []
        if self._by_opportunities:
            if self._opportunity and (self._in_service or self._queue.packets):
                events.append((self._opportunity[0], 0))
        elif self._in_service and (at := self._work.when(self._end_work)) is not None:  # type: ignore[union-attr]
            events.append((at, 0))
        if self._slot is not None and (self._in_service or self._queue.packets):
            events.append((self._slot, 1))
        if self._changes:
            events.append((self._changes[0][0], 2))
        return min(events, default=None)

    def _advance(self, until: int | None) -> None:
        while (event := self._next()) and (until is None or event[0] <= until):
            at, what = event
            if what == 2:
                self._change(at)
            elif what == 1:
                self._take_slot(at)
            elif self._by_opportunities:
                self._take_opportunity(at)
            else:
                self._leave(at)
                self._serve(at)
        if until is not None:
            # Nobody waits: slots and opportunities pass unused.
            while self._slot is not None and self._slot <= until:
                self._slot += self._spec["slots"]["min_interval_ns"]
            while self._opportunity and self._opportunity[0] <= until:
                self._opportunity = next(self._opportunities, None)

    def _arrive(self, packet: Packet, now: int) -> None:
        packet.queue_bytes, packet.queue_packets = self._queue.bytes, self._queue.packets
        if self._before.next():
            packet.drop("lost-before", now)
        elif not self._spec["up"]:
            packet.drop("dropped-down", now)
        elif self._policer and not self._policer.lets_pass(packet.size, now):
            packet.drop("dropped-policed", now)
        elif self._queue.passes_by and self._is_free():
            self._begin(packet, now)
        else:
            self._queue.enqueue(packet, now)
            self._serve(now)

    def _is_free(self) -> bool:
        """Can a packet that comes be sent at once? In front of slots and opportunities it waits."""
        return self._slot is None and not self._by_opportunities and self._in_service is None

    def _serve(self, now: int) -> None:
        """The serializer takes the next packet, if it is free."""
        if self._in_service or self._by_opportunities:
            return
        packet = self._aggregate.popleft() if self._aggregate else None
        if packet is None and self._slot is None:
            packet = self._queue.dequeue(now)
        if packet is not None:
            self._begin(packet, now)

    def _begin(self, packet: Packet, now: int) -> None:
        self._in_service = packet
        if packet.sojourn is None:
            packet.sojourn = now - packet.arrival
        if self._work is None:
            self._end_work = packet.size
        else:
            # Without a gap behind the one before, whose end is exact though its departure is rounded down.
            self._end_work = max(self._end_work, self._work.at(now)) + packet.size * BYTE

    def _leave(self, now: int) -> None:
        """The packet in service has left the serializer."""
        packet, self._in_service = self._in_service, None
        assert packet is not None
        packet.departure = now
        if self._marking.next():
            packet.congested("random")
        while self._propagating and self._propagating[0] <= now:
            self._propagating.popleft()
        room = self._spec["delay_line_packets"]
        if room is not None and len(self._propagating) >= room:
            packet.drop("dropped-delay-line", now)
            return
        # Packets stay in order if the delay gets shorter.
        delivery = max(self._last_delivery, now + self._spec["delay_ns"])
        self._last_delivery = delivery
        self._propagating.append(delivery)
        packet.ended = delivery
        packet.delivery = delivery
        packet.fate = "lost-after" if self._after.next() else "delivered"

    def _take_opportunity(self, now: int) -> None:
        """Up to so many bytes leave now."""
        assert self._opportunity is not None
        budget = self._opportunity[1]
        self._opportunity = next(self._opportunities, None)
        while budget:
            if self._in_service is None:
                packet = self._queue.dequeue(now)
                if packet is None:
                    break
                self._begin(packet, now)
            going = min(budget, self._end_work)
            budget -= going
            self._end_work -= going
            if self._end_work == 0:
                self._leave(now)

    def _take_slot(self, now: int) -> None:
        """Take the packets that wait, to send them in a row, unless the last slot's packets are still being sent."""
        slots = self._spec["slots"]
        self._slot = now + slots["min_interval_ns"]
        if self._in_service or self._aggregate:
            return
        taken = size = 0
        while (slots["packets"] is None or taken < slots["packets"]) and (
            slots["bytes"] is None or size < slots["bytes"]
        ):
            packet = self._queue.dequeue(now)
            if packet is None:
                break
            packet.sojourn = now - packet.arrival
            self._aggregate.append(packet)
            taken += 1
            size += packet.size
        self._serve(now)

    def _change(self, now: int) -> None:
        """An event: other parameters from now on."""
        old, (_, self._spec) = self._spec, self._changes.popleft()
        if (old["queue"], old["buffer"]) != (self._spec["queue"], self._spec["buffer"]):
            if old["queue"]["kind"] == self._spec["queue"]["kind"]:
                self._queue.configure(self._spec)
            else:
                waiting = self._queue.drain()
                self._queue = queue(self._spec, self._seed)
                for packet in waiting:
                    self._queue.enqueue(packet, now)
        self._before.configure(self._spec["loss_before"])
        self._after.configure(self._spec["loss_after"])
        self._marking.configure(self._spec.get("marking"))
        if not self._spec["up"]:
            self._go_down(now)
        self._serve(now)

    def _go_down(self, now: int) -> None:
        """Drop the packets that wait, and the one that is being sent."""
        sending = [self._in_service] if self._in_service else []
        for packet in (*sending, *self._aggregate, *self._queue.drain()):
            packet.drop("dropped-down", now, waited=True)
        self._in_service = None
        self._aggregate.clear()
        self._end_work = 0


def refuse_unmodelled(link: dict[str, Any]) -> None:
    """Fail if this module doesn't know what a link does."""
    absent = ("jitter", "reorder", "duplication", "corruption")
    slots = link["slots"]
    if any(link[key] for key in absent) or (slots and slots["min_interval_ns"] != slots["max_interval_ns"]):
        raise ValueError(f"{link['name']}: no model of this link")
    if link["rate_bps"] is None:
        raise ValueError(f"{link['name']}: no model of a link without a rate")
