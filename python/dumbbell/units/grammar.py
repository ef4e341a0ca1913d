"""The notation of a quantity: a decimal number and a unit; and the errors for other texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

from pydantic_core import CoreSchema, core_schema

from dumbbell.frozen import dataclass

MAX = 2**63 - 1
"""The engines hold times and counts in 64 signed bits."""

_LARGE: Final = 10_000
"""Numbers from here on may count the smallest unit: 10000000 as a rate may be in bit/s."""

_NUMBER = r"[0-9]{1,19}(?:\.[0-9]{1,18})?"
_QUANTITY = re.compile(rf"\s*+(?P<sign>[+-]?)\s*+(?P<number>{_NUMBER})\s*+(?P<unit>\S*+)\s*+")


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
    advice: Mapping[str, str] = field(default_factory=dict)
    """Unit that looks right and is not -> advice."""
    foreign: Mapping[str, tuple[Fraction, str]] = field(default_factory=dict)
    """Unit of another quantity or notation -> its size in smallest units, and how our units for it end (`B`): hints
    convert such values."""
    foreign_words: str = ""
    """Why such units are refused, e.g. `rates are in bits`."""

    @property
    def expected(self) -> str:
        """Describes the expected text."""
        return f'{self.what} with its unit ({", ".join(self.units)}), such as "{self.example}"'

    def refuse(self, wrong: str, hint: str = "") -> QuantityError:
        """The error for a text that does not fit."""
        return QuantityError(wrong, self.expected, hint or self.for_example)

    @property
    def for_example(self) -> str:
        """A hint that has no better value than the example."""
        return f'for example "{self.example}"'

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
            raise self.refuse("no unit", self.without_unit(number))
        if unit not in self.units:
            raise self.refuse(f"unknown unit {unit}", self._advice(number, unit))
        if match["sign"] == "-":
            raise QuantityError("negative", f"{self.what} that is not negative", self.for_example)
        return Fraction(number), unit

    def without_unit(self, number: str) -> str:
        """The hint for a number without a unit: a large one may count the smallest unit."""
        smallest = [next(iter(self.units))] if Fraction(number) >= _LARGE else []
        return _write(number, dict.fromkeys([*self.likely, *smallest]))

    def _advice(self, number: str, unit: str) -> str:
        """A hint that keeps the value's size, or one that asks which size is meant."""
        if unit in self.advice:
            return self.advice[unit]
        if unit in self.foreign:
            return f'{self.foreign_words}: {number} {unit} is "{self._converted(number, unit)}"'.removeprefix(": ")
        spelt = {self.aliases.get(one, one) for one in [*self.units, *self.aliases] if self._differs_in_case(one, unit)}
        others = [one for one in self.foreign if self._differs_in_case(one, unit)]
        if spelt and others:
            meant = " or ".join(f'{number} {one} ("{self._converted(number, one)}")' for one in others)
            return f'units are case-sensitive: is it "{number} {min(spelt)}", or {meant}?'
        if spelt or others:
            sure = f"{number} {min(spelt)}" if spelt else self._converted(number, others[0])
            return f'units are case-sensitive: write "{sure}"'
        for known in self.units:
            if known.lower() == f"{unit.lower()}/s":
                return f'a rate is per second: write "{number} {known}"'
        return _write(number, self._alike(unit))

    def _differs_in_case(self, known: str, unit: str) -> bool:
        """A capital B are bytes; a small one are bits only in a rate, as people write kb of sizes, too."""
        is_same_thing = ("B" in known) == ("B" in unit) or ("B" in self.units and "B" not in unit)
        return known.lower() == unit.lower() and is_same_thing

    def _converted(self, number: str, unit: str) -> str:
        """A value with a foreign unit, in the largest unit that writes it exactly."""
        factor, ending = self.foreign[unit]
        value, known = Fraction(number) * factor, [one for one in self.units if one.endswith(ending)]
        fitting = [one for one in known if self.units[one] <= value and self.units[one] % 10 == 0]
        best = max(fitting, key=self.units.__getitem__, default=known[0])
        return f"{decimal(value / self.units[best])} {best}"

    def _alike(self, unit: str) -> dict[str, None]:
        """Units of which `unit` is the beginning, or that are the beginning of `unit`: `M`, `msec`, `minutes`."""
        longest = max((len(one) for one in self.units if unit.lower().startswith(one.lower())), default=0)
        spelt = (one for one in [*self.units, *self.aliases] if one.lower().startswith(unit.lower()))
        begun = (one for one in self.units if unit.lower().startswith(one.lower()) and len(one) == longest)
        return dict.fromkeys(self.aliases.get(one, one) for one in (begun if longest else spelt))


def _write(number: str, units: Iterable[str]) -> str:
    offered = " or ".join(f'"{number} {unit}"' for unit in units)
    return f"write {offered}" if offered else ""


def decimal(value: Fraction) -> str:
    """Exact decimal notation of a fraction that has one, without trailing zeros: 3/2 -> "1.5"."""
    with localcontext(prec=64):
        text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def json_schema(grammar: Grammar) -> dict[str, object]:
    """A JSON Schema of the texts that a grammar accepts."""
    units = "|".join(re.escape(unit) for unit in [*grammar.units, *grammar.aliases])
    return {"type": "string", "pattern": rf"^\s*\+?\s*{_NUMBER}\s*({units})\s*$", "examples": [grammar.example]}


def schema_of(parse: Any) -> CoreSchema:
    """Parse on validation, print on serialisation to JSON."""
    return core_schema.no_info_plain_validator_function(
        parse, serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="json")
    )
