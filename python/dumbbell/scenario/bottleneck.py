"""The bottleneck's two directions with every default filled in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dumbbell.scenario.model import Dumbbell, Loss, Path
from dumbbell.scenario.quantities import BufferSize, Rate, Time

FULL_FRAME = 1514
"""Bytes of an Ethernet frame that carries a full IP packet of 1500 bytes, without preamble, FCS and gap."""


@dataclass(frozen=True)
class Direction:
    """One direction of the bottleneck."""

    rate: Rate | None
    """`None`: no limit."""
    buffer: BufferSize
    """As written; `resolve` gives it in bytes or packets."""
    loss: Loss
    delay: Time
    overhead: int
    """Bytes per frame."""

    @property
    def frame(self) -> int:
        """Bytes of a full frame on this link."""
        return FULL_FRAME + self.overhead

    def bdp(self, rtt: Time) -> int | None:
        """Rate times base RTT in bytes, rounded down; none without a rate."""
        return None if self.rate is None else self.rate * rtt // (8 * 10**9)

    def resolve(self, rtt: Time) -> tuple[Literal["bytes", "packets", "unlimited"], int]:
        """Room in bytes (rounded down, at least a full frame) or packets. `rtt` is the largest base RTT."""
        kind, amount = self.buffer.kind, self.buffer.amount
        if kind in ("bytes", "packets", "unlimited"):
            return kind, int(amount)
        if self.rate is None:
            raise ValueError("a buffer in time or BDP needs a rate")
        span = amount if kind == "time" else amount * rtt
        return "bytes", max(int(Fraction(self.rate, 8 * 10**9) * span), self.frame)


def rtts(topology: Dumbbell | Path) -> list[Time]:
    """Base RTT of each pair."""
    if isinstance(topology, Path):
        return [topology.rtt]
    return topology.rtt * topology.pairs if len(topology.rtt) == 1 else topology.rtt


def smallest_rtt(topology: Dumbbell | Path) -> Time:
    """The pair that is closest together."""
    return min(rtts(topology))


def largest_rtt(topology: Dumbbell | Path) -> Time:
    """The one that a BDP is reckoned with."""
    return max(rtts(topology))


def directions(topology: Dumbbell | Path) -> tuple[Direction, Direction]:
    """Forward and reverse. See `docs/reference/scenario.md` for the defaults."""
    there, back = topology.bottleneck, topology.bottleneck.reverse
    forward_delay, reverse_delay = _delays(topology)
    forward = Direction(
        rate=there.rate,
        buffer=there.buffer or _default_buffer(there.rate),
        loss=there.loss,
        delay=forward_delay,
        overhead=there.overhead,
    )
    rate = back.rate if "rate" in back.model_fields_set else there.rate
    inherited = there.buffer or _default_buffer(rate)
    if back.buffer is None and rate is None and inherited.kind in ("bdp", "time"):
        inherited = BufferSize("unlimited")
    reverse = Direction(
        rate=rate,
        buffer=back.buffer or inherited,
        loss=back.loss,
        delay=reverse_delay,
        overhead=there.overhead if back.overhead is None else back.overhead,
    )
    return forward, reverse


def _default_buffer(rate: Rate | None) -> BufferSize:
    return BufferSize("unlimited") if rate is None else BufferSize("bdp", Fraction(1))


def _delays(topology: Dumbbell | Path) -> tuple[Time, Time]:
    forward, reverse = topology.bottleneck.delay, topology.bottleneck.reverse.delay
    rtt = smallest_rtt(topology)
    if forward is None and reverse is None:
        return Time(rtt // 2), Time(rtt - rtt // 2)
    if forward is None and reverse is not None:
        return Time(max(rtt - reverse, 0)), reverse
    if forward is not None and reverse is None:
        rest = max(rtt - forward, 0)
        # On a path nothing else can take the rest.
        return forward, Time(rest if isinstance(topology, Path) else min(forward, rest))
    assert forward is not None
    assert reverse is not None
    return forward, reverse
