"""When decisions are due, and the numbers of an observation."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final, Self

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.units import Time
from dumbbell.units.grammar import QuantityError


class Field(IntEnum):
    """Places of an observation's numbers. docs/reference/gym.md has their meanings, `core.held_fields` their units."""

    IS_DUE = 0
    DURATION = 1
    DELIVERED = 2
    LOST = 3
    CE = 4
    RTT_MEAN = 5
    RTT_MIN = 6
    RTT_LATEST = 7
    MIN_RTT = 8
    IN_FLIGHT = 9
    WINDOW = 10
    DELIVERY_RATE = 11
    IS_APP_LIMITED = 12


_RTTS: Final = re.compile(r"(\d+(?:\.\d+)?) rtt")
_MOST_RTTS: Final = 1000.0
ACK: Final = "ack"


@dataclass(frozen=True)
class Terms:
    """When decisions are due."""

    interval: str
    """The interval as the user wrote it."""
    interval_us: int
    interval_rtts: float | None
    """Smoothed RTTs, in place of `interval_us`."""
    timeout_us: int
    paces: bool
    """Actions have a second number, for the pacing rate."""

    @classmethod
    def parse(cls, interval: str, timeout: str, paces: bool) -> Self:
        """The terms in words. Raises `InputError`."""
        us, rtts = parse_interval(interval)
        return cls(interval, us, rtts, max(1, _time(timeout, "timeout") // 1000), paces)

    @property
    def width(self) -> int:
        """Numbers of an action."""
        return 1 + self.paces


def parse_interval(text: str) -> tuple[int, float | None]:
    """Microseconds, and smoothed RTTs in their place. Raises `InputError`."""
    if text == ACK:
        return 0, None
    if found := _RTTS.fullmatch(text):
        rtts = float(found[1])
        if not 1 / 1024 <= rtts <= _MOST_RTTS:
            raise InputError(f"interval: {text}", f"expected 0.001 to {_MOST_RTTS:g} rtt", "")
        return 0, rtts
    return _time(text, "interval") // 1000, None


def _time(text: str, what: str) -> int:
    """Nanoseconds."""
    try:
        found = int(Time.parse(text))
    except QuantityError as error:
        raise InputError(f"{what}: {error}", "", 'for example "10 ms"') from None
    if found < 0:
        raise InputError(f"{what}: {text}", "expected no negative time", 'for example "10 ms"')
    return found
