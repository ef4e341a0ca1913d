"""The notation of a quantity: a decimal number and a unit; and the errors for other texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from pydantic_core import CoreSchema, core_schema

MAX = 2**63 - 1
"""The engines hold times and counts in 64 signed bits."""

_HOURS = ("h", "hour", "hours")
_NUMBER = r"[0-9]{1,19}(?:\.[0-9]{1,18})?"
_QUANTITY = re.compile(rf"\s*(?P<sign>[+-]?)\s*(?P<number>{_NUMBER})\s*(?P<unit>\S*)\s*")


class QuantityError(ValueError):
    """The error for a text that is not such a quantity: what is `wrong`, what was `expected`, a `hint` with an
    example."""

    def __init__(self, wrong: str, expected: str, hint: str) -> None:
        super().__init__(f"{wrong}; expected {expected}")
        self.wrong = wrong
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True)
class Grammar:
    """The units of one kind of quantity and the words for it in errors."""

    what: str
    """The quantity with its article, e.g. `a rate`."""
    units: Mapping[str, int]
    """Unit -> its size in smallest units. Errors offer these."""
    aliases: Mapping[str, str]
    """Other spellings."""
    example: str
    likely: tuple[str, ...]
    """Units that an error offers for a number without one."""
    advice: Mapping[str, str]
    """Unit that looks right and is not -> advice."""

    @property
    def expected(self) -> str:
        """Describes the expected text."""
        return f'{self.what} with its unit ({", ".join(self.units)}), such as "{self.example}"'

    def refuse(self, wrong: str, hint: str = "") -> QuantityError:
        """The error for a text that does not fit."""
        return QuantityError(wrong, self.expected, hint or f'write "{self.example}"')

    def split(self, value: object) -> tuple[Fraction, str]:
        """The number and the (unaliased) unit of a text; raises `QuantityError`."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.refuse(f"not {self.what}")
        match = _QUANTITY.fullmatch(str(value))
        if match is None:
            raise self.refuse(f"not {self.what}")
        number, unit = match["number"], match["unit"]
        unit = self.aliases.get(unit, unit)
        if not unit:
            raise self.refuse("no unit", "write " + " or ".join(f'"{number} {likely}"' for likely in self.likely))
        if unit not in self.units:
            raise self.refuse(f"unknown unit {unit}", self._advice(number, unit))
        if match["sign"] == "-":
            raise QuantityError("negative", f"{self.what} that is not negative", f'write "{self.example}"')
        return Fraction(number), unit

    def _advice(self, number: str, unit: str) -> str:
        if unit in self.advice:
            return self.advice[unit]
        for known in [*self.units, *self.aliases]:
            if known.lower() == unit.lower():
                return f'units are case-sensitive: write "{number} {self.aliases.get(known, known)}"'
        for known in self.units:
            if known.lower() == f"{unit.lower()}/s":
                return f'a rate is per second: write "{number} {known}"'
        if unit in _HOURS and "min" in self.units:
            return f'write "{decimal(60 * Fraction(number))} min"'
        return ""


def decimal(value: Fraction) -> str:
    """Exact decimal notation of a fraction that has one, without trailing zeros: 3/2 -> "1.5"."""
    with localcontext(prec=64):
        text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def json_schema(grammar: Grammar) -> dict[str, Any]:
    """A JSON Schema of the texts that a grammar accepts."""
    units = "|".join(re.escape(unit) for unit in [*grammar.units, *grammar.aliases])
    return {"type": "string", "pattern": rf"^\s*\+?\s*{_NUMBER}\s*({units})\s*$", "examples": [grammar.example]}


def schema_of(parse: Any) -> CoreSchema:
    """Parse on validation, print on serialisation to JSON."""
    return core_schema.no_info_plain_validator_function(
        parse, serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="json")
    )
