"""Queues of the kernel's that draw lots, judged packet by packet.

Of a packet that is dropped or marked by lot only a probability is known. It follows from what the queue held, and from
what the lots have done before. So a law that is the queue's own says before each packet, from the record alone, how
probable its fate is: what happened is then as far from the sum of these probabilities as chance makes it. Other lots
thrown for the same arrivals would not do: senders have answered to the queue's own lots, and to no others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

Rows = Sequence[dict[str, Any]]
"""The packets of a link in the order of arrival, with the columns of `packets.parquet`."""
Judged = tuple[float, bool]
"""The probability that a packet is dropped or marked, and whether it was."""

_MS: Final = 1_000_000
MEAN_PACKET: Final = 1514
"""Bytes: a full frame."""


@dataclass(frozen=True)
class Given:
    """How many packets were dropped or marked, and how many a law expects given all that happened before each."""

    packets: int
    happened: int
    expected: float
    sd: float
    """Fate `happened`, if the law is the queue's own."""
    impossible: int
    """Packets that were dropped or marked, or were not, against a certainty of the law."""

    @property
    def away(self) -> float:
        """How far `happened` is from `expected`, in standard deviations."""
        return (self.happened - self.expected) / (self.sd or 1.0)


def judge(judged: Iterable[Judged]) -> Given:
    """Sum up what a law says of all packets."""
    packets = happened = impossible = 0
    expected = variance = 0.0
    for probability, hit in judged:
        packets += 1
        happened += hit
        expected += probability
        variance += probability * (1 - probability)
        impossible += probability == (0.0 if hit else 1.0)
    return Given(packets, happened, expected, math.sqrt(variance), impossible)


def likelihood(judged: Iterable[Judged]) -> float:
    """The logarithm of the probability of all that happened; a packet against a certainty counts as 1 in a million."""
    return sum(math.log(max(probability if hit else 1 - probability, 1e-6)) for probability, hit in judged)


def red(rows: Rows, spec: dict[str, Any]) -> Iterator[Judged]:
    """RED that is not gentle, with one number for each gap (Floyd and Jacobson 1993, figure 17).

    The number R is between 0 and 1, and a packet is dropped once the packets since the last drop times `p_b` reach R.
    An
    idle time leaves the average as it is.
    """
    low, high, weight = spec["min_th_bytes"], spec["max_th_bytes"], spec["weight"]
    average, count, passed = 0.0, -1, 0.0
    for row in rows:
        hit = is_hit(row)
        average += weight * (row["queue_bytes"] - average)
        probability = 0.0
        if average < low or average >= high:
            probability, count, passed = float(average >= high), -1, 0.0
        else:
            count += 1
            reached = min(1.0, count * spec["max_p"] * (average - low) / (high - low))
            # R is above `passed`, as the packets before have gone through.
            if reached > passed:
                probability, passed = (reached - passed) / (1 - passed), reached
            if hit:
                count, passed = 0, 0.0
        yield probability, hit


@dataclass(frozen=True)
class Traits:
    """Traits of Linux's PIE (net/sched/sch_pie.c) that differ from RFC 8033. The values here are the RFC's."""

    first_ns: int = 15 * _MS
    """The first update of the probability."""
    update_ns: int = 15 * _MS
    """From update to update."""
    most: float = 1.0
    """The bound of the probability."""
    keeps: bool = False
    """The probability does not decay while a packet waits."""
    steep: bool = False
    """True if the probability grows by 2 % at each update while packets wait for longer than 250 ms."""
    newest: bool = False
    """True if a short delay is that of the last packet that left, in place of the last update."""


class Pie:
    """The state of PIE with timestamps (RFC 8033 sections 4 and 5), inside a bucket of tokens.

    The packet that waits for tokens has left PIE, but counts in its backlog.
    """

    def __init__(self, spec: dict[str, Any], limit: int, traits: Traits) -> None:
        self._spec, self._limit, self._traits = spec, limit, traits
        self.bytes = self.packets = self.behind = 0
        """Starts with packets that wait; `behind`: bytes behind the packet that waits for tokens."""
        self._delay = self._old = 0
        self._probability = self._sum = 0.0
        self._allowance: int = spec["max_burst_ns"]
        self._took: int | None = None

    def update(self) -> None:
        """Section 4.2, with the cap of section 5.5."""
        spec, before = self._spec, self._probability
        change = (
            spec["alpha"] * (self._delay - spec["target_ns"]) / 1e9 + spec["beta"] * (self._delay - self._old) / 1e9
        )
        for below, divisor in ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2)):
            if before < below:
                change /= divisor
                break
        else:
            change = min(change, 0.02)
        if self._traits.steep and self._delay > 250 * _MS:
            change += 0.02
        self._probability = min(max(before + change, 0.0), self._traits.most)
        if self._delay == self._old == 0 and not (self._traits.keeps and self.bytes):
            self._probability *= 1 - 1 / 64
        calm = self._delay < spec["target_ns"] / 2 and self._old < spec["target_ns"] / 2
        if calm and self._probability == 0:
            self._allowance, self._took, self._sum = spec["max_burst_ns"], None, 0.0
        self._old = self._delay

    def take(self, arrival: int, size: int, now: int) -> None:
        """A packet is next to leave."""
        self.behind -= size
        self._delay = now - arrival if self.behind else 0
        if self._took is not None:
            self._allowance = max(0, self._allowance - (now - self._took))
        self._took = now

    def leave(self, size: int) -> None:
        """Takes a packet that has left."""
        self.bytes -= size
        self.packets -= 1

    def arrive(self, size: int, hit: bool, enters: bool) -> float:
        """The probability that a packet is dropped or marked that comes now; then what became of it."""
        probability = self._early()
        if self.packets >= self._limit:
            probability = 1.0
        if hit:
            self._sum = 0.0
        if enters:
            self.bytes += size
            self.behind += size
            self.packets += 1
        return probability

    def _early(self) -> float:
        delay = self._delay if self._traits.newest else self._old
        is_light = delay < self._spec["target_ns"] / 2 and self._probability < 0.2
        if self._allowance or is_light or self.bytes < 2 * MEAN_PACKET:
            return 0.0
        self._sum = self._sum + self._probability if self._probability else 0.0
        if self._sum < 0.85:
            return 0.0
        return 1.0 if self._sum >= 8.5 else min(self._probability, 1.0)


def pie(rows: Rows, spec: dict[str, Any], limit: int, traits: Traits, duration_ns: int) -> Iterator[Judged]:
    """PIE with these traits, and room for `limit` packets."""
    queue = Pie(spec, limit, traits)
    end = 0
    # (time, what, which): what leaves makes room for what comes at the same time.
    events: list[tuple[int, int, int]] = [(row["arrival_ns"], 2, number) for number, row in enumerate(rows)]
    passed = [number for number, row in enumerate(rows) if row["departure_ns"] is not None]
    for number in sorted(passed, key=lambda number: rows[number]["departure_ns"]):
        # It is next when the packet before it has left.
        events.append((max(rows[number]["arrival_ns"], end), 3, number))
        end = rows[number]["departure_ns"]
        events.append((end, 1, number))
    events += [(at, 0, 0) for at in range(traits.first_ns, duration_ns, traits.update_ns)]
    for at, what, number in sorted(events):
        row = rows[number]
        match what:
            case 0:
                queue.update()
            case 1:
                queue.leave(row["size_bytes"])
            case 2:
                hit = is_hit(row)
                yield queue.arrive(row["size_bytes"], hit, not row["fate"].startswith("dropped")), hit
            case _:
                queue.take(row["arrival_ns"], row["size_bytes"], at)


def is_hit(row: dict[str, Any]) -> bool:
    """Returns true if the packet was dropped or marked."""
    return bool(row["fate"].startswith("dropped") or row["mark"] is not None)
