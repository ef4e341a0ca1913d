"""One direction of a link with every default filled in, as it is at the start and after each event."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal

from dumbbell.frozen import dataclass
from dumbbell.scenario.links.link import AS_FORWARD, IMPAIRMENTS, DirectionKeys
from dumbbell.scenario.links.queues import AnyQueue, Fifo
from dumbbell.scenario.links.rates import LinkRate, Trace, mean
from dumbbell.scenario.source import Key
from dumbbell.units import BufferSize, Rate, Size, Time
from dumbbell.units.mtu import frame_bytes

DROP_TAIL = Fifo(kind="drop-tail")

LEAST_PACKETS: Final = 16
LEAST_TIME: Final = Time(1_000_000)
"""Any default buffer has room for so many full frames, and for so long at the link's rate. The BDP of a link without a
delay is nothing: an initial window of 10 segments (RFC 6928), or a burst of 64 kB at 10 Gbit/s, would overflow it."""

_BDP: Final = BufferSize("bdp", Fraction(1))

DEFAULT_BUFFER: Final = BufferSize("bdp", Fraction(1), LEAST_PACKETS, LEAST_TIME)
"""The buffer of a link that has a rate, and whose buffer is not written down."""


class Direction(DirectionKeys):
    """One direction of a link: its keys, each with its value."""

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
    carrier: Literal["kept", "lost"] = "kept"
    """While the link is down: the carrier of the interfaces at its ends."""
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
        """Room in bytes (rounded down, at least some full frames) or packets. `rtt` is the base RTT of a BDP."""
        kind, amount = self.buffer.kind, self.buffer.amount
        if kind in ("bytes", "packets", "unlimited"):
            return kind, int(amount)
        rate = self.nominal
        if rate is None:
            raise ValueError("a buffer in time or BDP needs a rate")
        span = max(amount * (1 if kind == "time" else int(rtt)), Fraction(self.buffer.least_ns))
        return "bytes", max(int(Fraction(rate, 8 * 10**9) * span), self.buffer.least_packets * self.frame)

    def has_least_buffer(self, rtt: Time) -> bool:
        """True if the link has the default buffer, and 1 BDP would be less than that."""
        return self.buffer == DEFAULT_BUFFER and self.resolve(rtt) != self.with_keys({"buffer": _BDP}).resolve(rtt)

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
                "carrier": "kept" if self.up else self.carrier,
                "loss": [loss for loss in self.loss if loss.has_effect],
                **{key: part if part and part.has_effect else None for key, part in impairments.items()},
            }
        )


History = dict[str, list[tuple[Time, Direction]]]
"""Link -> its initial values, and its values after each change with their time."""


@dataclass(frozen=True)
class WrittenLink:
    """One direction of a link as it is written, not yet settled."""

    name: str
    from_: str
    to: str
    at: Key
    """The place of its keys in the scenario."""
    given: Mapping[str, Any]
    """The keys that stand there, with their values."""
    start: Direction
    """Its state at the start of the run."""
    rtt: Time
    """The base RTT by which its BDP is reckoned."""


def both(
    there: dict[str, Any], back: dict[str, Any], duration: Time, mtu: int, delays: tuple[Time, Time]
) -> tuple[Direction, Direction]:
    """Forward and reverse of a link, not yet settled. See `docs/reference/scenario.md` for the defaults.

    Args:
        there: the link's keys that are written, with their values.
        back: those of its table `reverse`.
        duration: of the run.
        mtu: of the network, in bytes.
        delays: of both directions.
    """
    forward = _direction(there, duration, mtu, delays[0])
    shared = {key: there[key] for key in AS_FORWARD if key in there}
    reverse = _direction(shared | back, duration, mtu, delays[1])
    if "buffer" not in back and reverse.rate is None and reverse.buffer.kind in ("bdp", "time"):
        reverse = reverse.with_keys({"buffer": BufferSize("unlimited")})
    return forward, reverse


def _direction(given: dict[str, Any], duration: Time, mtu: int, delay: Time) -> Direction:
    """The direction with these keys: the same object for the same keys, as a large network has thousands of links."""
    try:
        return _alike(tuple(given.items()), duration, mtu, delay)
    except TypeError:  # A key has a list, which has no hash.
        return _made(given, duration, mtu, delay)


@lru_cache(maxsize=256)
def _alike(given: tuple[tuple[str, Any], ...], duration: Time, mtu: int, delay: Time) -> Direction:
    return _made(dict(given), duration, mtu, delay)


def _made(given: dict[str, Any], duration: Time, mtu: int, delay: Time) -> Direction:
    buffer = BufferSize("unlimited") if given.get("rate") is None else DEFAULT_BUFFER
    # The values are of models that are validated.
    return Direction.model_construct(
        **{"rate": None, "buffer": buffer, **given, "delay": delay, "duration": duration, "mtu": mtu}
    )
