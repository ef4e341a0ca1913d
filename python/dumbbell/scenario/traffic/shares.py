"""Parts of a flow's connections: `mix` and `sizes`."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, Field

from dumbbell.scenario.table import Table
from dumbbell.scenario.traffic.algorithms import Name
from dumbbell.units import Amount, QuantityError

TOLERANCE = Fraction(1, 1000)
"""Tolerance of the sum of shares: three thirds are 0.333, 0.333 and 0.333."""

Share = Annotated[float, Field(ge=0, le=1, strict=True)]


def exact(shares: Iterable[float]) -> list[Fraction]:
    """Shares as they were written: 0.1 is a tenth."""
    return [Fraction(str(share)) for share in shares]


def _check(shares: Iterable[float], example: str) -> None:
    total = sum(exact(shares), Fraction())
    if abs(total - 1) > TOLERANCE:
        raise QuantityError(f"the shares add up to {float(total):.6g}", "shares that add up to 1", f"write {example}")


def _mixed(mix: dict[str, float]) -> dict[str, float]:
    _check(mix.values(), "mix = { cubic = 0.75, bbr = 0.25 }")
    return mix


class SizeShare(Table):
    """A size, and how many of a flow's connections have it."""

    bytes: Amount = Field(description="Application data of each of these connections.", examples=["300 kB"])
    share: Share = Field(description="Their share of the connections, from 0 to 1.", examples=[0.8])


def _sized(sizes: list[SizeShare]) -> list[SizeShare]:
    example = 'sizes = [{ bytes = "300 kB", share = 0.8 }, { bytes = "30 MB", share = 0.2 }]'
    _check((size.share for size in sizes), example)
    return sizes


Mix = Annotated[dict[Name, Share], AfterValidator(_mixed)]
Sizes = Annotated[list[SizeShare], Field(min_length=1), AfterValidator(_sized)]
