"""Random choices of a scenario: named streams of random numbers, and the assignment of shares.

A stream is named after what it decides, such as `flows/web/arrivals`: a change elsewhere in the scenario moves none of
its numbers. They are the SHA-256 of seed, name and count, and logarithms are decimal, so every machine and every
version of Python draws the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

_BITS = 64


class Stream:
    """Random numbers of one purpose."""

    def __init__(self, seed: int, name: str) -> None:
        self._name = f"{seed}/{name}"
        self._drawn = 0

    def _bits(self) -> int:
        digest = hashlib.sha256(f"{self._name}/{self._drawn}".encode()).digest()
        self._drawn += 1
        return int.from_bytes(digest[: _BITS // 8], "big")

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1, all equally likely."""
        return self._bits() * limit >> _BITS

    def exponential(self, mean: int) -> int:
        """A whole number with an exponential distribution of this mean: -mean ln u, rounded."""
        with localcontext(prec=20):
            share = Decimal(self._bits() + 1) / (1 << _BITS)
            return int((-share.ln() * mean).to_integral_value())

    def shuffled(self, items: Sequence[int]) -> list[int]:
        """The same items in another order, each order equally likely (Fisher and Yates)."""
        found = list(items)
        for last in range(len(found) - 1, 0, -1):
            other = self.below(last + 1)
            found[last], found[other] = found[other], found[last]
        return found


@lru_cache(maxsize=256)
def gaps(seed: int, name: str, mean: int, number: int) -> tuple[int, ...]:
    """`number` draws of an exponential distribution. A scenario is planned in steps that ask for the same ones."""
    stream = Stream(seed, name)
    return tuple(stream.exponential(mean) for _ in range(number))


@lru_cache(maxsize=256)
def dealt(seed: int, name: str, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The part of each one, in random order, if the parts have these `numbers`."""
    in_order = [part for part, number in enumerate(numbers) for _ in range(number)]
    return tuple(Stream(seed, name).shuffled(in_order))


def counts(shares: Sequence[Fraction], total: int) -> list[int]:
    """The number of `total` that each share gets: whole numbers that add up, each less than 1 from its exact part.

    The method is the largest remainder (Hamilton's method): each gets the whole part of its due, and those with the
    largest fractions get one more; of equal fractions the first.
    """
    whole = sum(shares, Fraction())
    due = [share * total / whole for share in shares]
    found = [int(part) for part in due]
    by_remainder = sorted(range(len(due)), key=lambda i: found[i] - due[i])
    for i in by_remainder[: total - sum(found)]:
        found[i] += 1
    return found
