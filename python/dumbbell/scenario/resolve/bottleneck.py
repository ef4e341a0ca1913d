"""The bottleneck's two directions with every default filled in, as they are at the start and after each event."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from dumbbell.scenario.links.link import AS_FORWARD, IMPAIRMENTS, DirectionKeys
from dumbbell.scenario.links.queues import AnyQueue, Fifo
from dumbbell.scenario.links.rates import LinkRate, Trace, mean
from dumbbell.scenario.topology.dumbbell import Dumbbell
from dumbbell.scenario.topology.path import Path
from dumbbell.units import BufferSize, Rate, Size, Time
from dumbbell.units.mtu import frame_bytes

DROP_TAIL = Fifo(kind="drop-tail")

NAMES = ("bottleneck", "bottleneck-reverse")
"""Names of the links, forward and reverse."""


class Direction(DirectionKeys):
    """One direction of the bottleneck: a link's keys, each with its value."""

    duration: Time
    """Duration of the run."""
    mtu: int
    """MTU of the network, in bytes."""
    rate: LinkRate
    """`None`: no limit."""
    buffer: BufferSize
    """The buffer as written; `settled` has it in bytes or packets."""
    delay: Time
    overhead: Size = Size(0)
    queue: AnyQueue = DROP_TAIL
    """The queue as written; `settled` has all its parameters."""

    @property
    def frame(self) -> int:
        """Bytes of a full frame on this link."""
        return frame_bytes(self.mtu) + self.overhead

    @property
    def nominal(self) -> Rate | None:
        """The mean of a rate that changes by itself; by it BDPs and times are reckoned."""
        return mean(self.rate, self.duration, self.frame)

    def resolve(self, rtt: Time) -> tuple[Literal["bytes", "packets", "unlimited"], int]:
        """Room in bytes (rounded down, at least a full frame) or packets. `rtt` is the largest base RTT."""
        kind, amount = self.buffer.kind, self.buffer.amount
        if kind in ("bytes", "packets", "unlimited"):
            return kind, int(amount)
        rate = self.nominal
        if rate is None:
            raise ValueError("a buffer in time or BDP needs a rate")
        span = amount if kind == "time" else amount * rtt
        return "bytes", max(int(Fraction(rate, 8 * 10**9) * span), self.frame)

    def room(self, rtt: Time) -> int | None:
        """Bytes in the buffer, packets taken for full frames; none if it is unlimited."""
        kind, amount = self.resolve(rtt)
        return None if kind == "unlimited" else amount * self.frame if kind == "packets" else amount

    def with_keys(self, given: dict[str, Any]) -> Direction:
        """A copy with the given values."""
        return self.model_copy(update=given)

    def settled(self, rtt: Time) -> Direction:
        """Nothing measured by another value any more, and nothing that has no effect.

        So a later change of the rate alone leaves a buffer as large as it was. Raises `QuantityError` for thresholds
        that make no RED.
        """
        kind, amount = self.resolve(rtt)
        rate = self.rate
        queue = self.queue.settled(self.nominal, self.room(rtt), self.frame, rtt, self.mtu)
        if isinstance(rate, Trace) and rate.opportunity is None:
            rate = rate.model_copy(update={"opportunity": self.frame})
        impairments = {key: getattr(self, key) for key in IMPAIRMENTS}
        return self.with_keys(
            {
                "buffer": BufferSize(kind, Fraction(amount)),
                "queue": queue,
                "rate": rate,
                "loss": [loss for loss in self.loss if loss.has_effect],
                **{key: part if part and part.has_effect else None for key, part in impairments.items()},
            }
        )


History = dict[str, list[tuple[Time, Direction]]]
"""Link -> its initial values, and its values after each change with their time."""


def rtts(topology: Dumbbell | Path) -> list[Time]:
    """Base RTT of each pair."""
    if isinstance(topology, Path):
        return [topology.rtt]
    return topology.rtt * topology.pairs if len(topology.rtt) == 1 else topology.rtt


def smallest_rtt(topology: Dumbbell | Path) -> Time:
    """The pair that is closest together."""
    return min(rtts(topology))


def largest_rtt(topology: Dumbbell | Path) -> Time:
    """The RTT for BDPs."""
    return max(rtts(topology))


def directions(topology: Dumbbell | Path, duration: Time) -> tuple[Direction, Direction]:
    """Forward and reverse, not yet settled. See `docs/reference/scenario.md` for the defaults."""
    there, back = topology.bottleneck.given(), topology.bottleneck.reverse.given()
    delays = dict(zip(NAMES, _delays(topology), strict=True))
    forward = _direction(there, duration, topology.mtu, delays["bottleneck"])
    shared = {key: there[key] for key in AS_FORWARD if key in there}
    reverse = _direction(shared | back, duration, topology.mtu, delays["bottleneck-reverse"])
    if "buffer" not in back and reverse.rate is None and reverse.buffer.kind in ("bdp", "time"):
        reverse = reverse.with_keys({"buffer": BufferSize("unlimited")})
    return forward, reverse


def _direction(given: dict[str, Any], duration: Time, mtu: int, delay: Time) -> Direction:
    buffer = BufferSize("unlimited") if given["rate"] is None else BufferSize("bdp", Fraction(1))
    # The values are of models that are validated.
    return Direction.model_construct(**{"buffer": buffer, **given, "delay": delay, "duration": duration, "mtu": mtu})


def _delays(topology: Dumbbell | Path) -> tuple[Time, Time]:
    forward, reverse = topology.bottleneck.delay, topology.bottleneck.reverse.delay
    rtt = smallest_rtt(topology)
    if forward is None and reverse is None:
        return Time(rtt // 2), Time(rtt - rtt // 2)
    if forward is None and reverse is not None:
        return Time(max(rtt - reverse, 0)), reverse
    if forward is not None and reverse is None:
        rest = max(rtt - forward, 0)
        # Nothing else can take the rest on a path.
        return forward, Time(rest if isinstance(topology, Path) else min(forward, rest))
    assert forward is not None
    assert reverse is not None
    return forward, reverse
