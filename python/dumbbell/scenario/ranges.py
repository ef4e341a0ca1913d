"""Lists of values in short: `{ log = ["0.1 bdp", "10 bdp"], points = 9 }`, `{ linear = [1, 30], step = 1 }`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from math import exp, log
from typing import Any, Final

from pydantic import Field

from dumbbell.scenario.table import Table
from dumbbell.units import QuantityError, decimal

MOST: Final = 10_000
"""Values of one key."""

_END = re.compile(r"\s*+(?P<number>-?[0-9]{1,19}(?:\.[0-9]{1,18})?)\s*+(?P<unit>\S*+)\s*+")
_EXAMPLE = 'write { log = ["0.1 bdp", "10 bdp"], points = 9 } or { linear = [1, 30], step = 1 }'


class Range(Table):
    """Values between two ends, which are among them."""

    log: list[Any] | None = Field(
        default=None, min_length=2, max_length=2, description="Both ends, with the same unit: each value is a multiple."
    )
    linear: list[Any] | None = Field(
        default=None, min_length=2, max_length=2, description="Both ends, with the same unit: equal steps between."
    )
    points: int | None = Field(default=None, ge=2, le=MOST, description="How many values.")
    step: Any = Field(
        default=None, description="With `linear`: the difference between values, with the unit of the ends."
    )


def listed(value: Any) -> Any:
    """A list unchanged; a range as a list. Raises `QuantityError`."""
    if not isinstance(value, dict):
        return value
    kinds = [kind for kind in ("log", "linear") if kind in value]
    unknown = value.keys() - Range.model_fields.keys()
    if unknown and not kinds:
        # TOML takes dots outside quotes for tables.
        hint = 'a key with dots stands in quotes: "topology.rtt" = ["10 ms", "40 ms"]'
        raise QuantityError("not a list of values", "a list, or a range with log or linear", hint)
    if len(kinds) != 1 or unknown:
        raise QuantityError("not a list of values", "a list, or a range with log or linear", _EXAMPLE)
    low, high, unit = _ends(value[kinds[0]])
    numbers = _logarithmic(low, high, value) if kinds == ["log"] else _linear(low, high, unit, value)
    return [number if unit is None else f"{_text(number)} {unit}".strip() for number in numbers]


def _ends(ends: Any) -> tuple[Fraction, Fraction, str | None]:
    """Two numbers, and their unit; `None` for plain numbers."""
    if not isinstance(ends, list) or len(ends) != 2:
        raise QuantityError("not two ends", "a list of two", _EXAMPLE)
    (low, one), (high, other) = map(_split, ends)
    if one != other:
        raise QuantityError("ends with different units", "the same unit at both", _EXAMPLE)
    return low, high, one


def _split(end: Any) -> tuple[Fraction, str | None]:
    if isinstance(end, int | float) and not isinstance(end, bool):
        return Fraction(str(end)), None
    match = _END.fullmatch(end) if isinstance(end, str) else None
    if match is None:
        raise QuantityError("not a number, with or without a unit", "two ends such as 1 and 30", _EXAMPLE)
    return Fraction(match["number"]), match["unit"]


def _logarithmic(low: Fraction, high: Fraction, table: dict[str, Any]) -> list[Any]:
    if "step" in table:
        raise QuantityError("log with a step", "points: the values are multiples of each other", _EXAMPLE)
    if low <= 0 or high <= 0:
        raise QuantityError("log of what is not positive", "two ends above 0", _EXAMPLE)
    points = _points(table)
    ratio = log(high / low) / (points - 1)
    # Four digits are enough for values that nobody asked for one by one; the ends are what was asked for.
    inner = [_rounded(float(low) * exp(ratio * i), 4) for i in range(1, points - 1)]
    return _plain([low, *inner, high], table["log"])


def _linear(low: Fraction, high: Fraction, unit: str | None, table: dict[str, Any]) -> list[Any]:
    if ("step" in table) == ("points" in table):
        raise QuantityError("points and step", "one of the two", _EXAMPLE)
    if "step" in table:
        return _plain(list(_steps(low, high, unit, table["step"])), [*table["linear"], table["step"]])
    points = _points(table)
    inner = [_rounded(float(low + (high - low) * i / (points - 1)), 6) for i in range(1, points - 1)]
    return _plain([low, *inner, high], table["linear"])


def _steps(low: Fraction, high: Fraction, unit: str | None, given: Any) -> Iterator[Fraction]:
    step, of = _split(given)
    if of != unit:
        raise QuantityError("a step with another unit than the ends", "the same unit", _EXAMPLE)
    count = (high - low) / step if step else Fraction(-1)
    if count < 0 or count.denominator != 1 or count >= MOST:
        raise QuantityError(
            "steps that do not lead from end to end", "a step that fits a whole number of times", _EXAMPLE
        )
    return (low + i * step for i in range(int(count) + 1))


def _points(table: dict[str, Any]) -> int:
    points = table.get("points")
    if type(points) is not int or not 2 <= points <= MOST:
        raise QuantityError("not a number of points", f"points from 2 to {MOST:,}", _EXAMPLE)
    return points


def _rounded(value: float, digits: int) -> Fraction:
    return Fraction(Decimal(f"{value:.{digits - 1}e}"))


def _plain(numbers: list[Fraction], given: list[Any]) -> list[Any]:
    """Whole numbers if all that was given is whole, each once, or else floating ones; with a unit, as they are."""
    if isinstance(given[0], str):
        return numbers
    if all(type(one) is int for one in given):
        return list(dict.fromkeys(round(number) for number in numbers))
    return [float(number) for number in numbers]


def _text(number: Fraction) -> str:
    return decimal(number)
