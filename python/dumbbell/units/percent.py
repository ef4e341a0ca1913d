"""Probabilities and correlations, in percent."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from dumbbell.frozen import dataclass
from dumbbell.units.grammar import Grammar, QuantityError, decimal, json_schema, schema_of


class _Shares(Grammar):
    """A number up to 1 without a unit may be a share or a percentage."""

    def without_unit(self, number: str) -> str:
        """Asks which of both is meant: they differ by a factor of 100."""
        if not 0 < Fraction(number) <= 1:
            return super().without_unit(number)
        return f'is it "{decimal(100 * Fraction(number))} %" or "{number} %"?'


@dataclass(frozen=True)
class Percent:
    """A probability, written in percent."""

    percent: Fraction

    grammar: ClassVar[Grammar] = _Shares(
        "a percentage",
        {"%": 1},
        {"percent": "%"},
        "0.5 %",
        ("%",),
        foreign={"‰": (Fraction(1, 10), "%"), "ppm": (Fraction(1, 10**4), "%")},
    )

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a text such as "0.5 %"; raises `QuantityError`."""
        if isinstance(value, cls):
            return value
        number, _ = cls.grammar.split(value)
        if number > 100:
            raise cls.grammar.refuse("more than 100 %")
        return cls(number)

    @property
    def probability(self) -> float:
        """The nearest double, between 0 and 1."""
        return float(self.percent / 100)

    def __str__(self) -> str:
        """The exact text."""
        return f"{decimal(self.percent)} %"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Parse on validation, print on serialisation to JSON."""
        return schema_of(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        """A string with the pattern of a percentage."""
        return json_schema(cls.grammar)


class Correlation(Percent):
    """The correlation of a value with the one before, below 100 %."""

    grammar = replace(Percent.grammar, what="a correlation", example="25 %")

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a text such as "25 %"; raises `QuantityError`."""
        found = super().parse(value)
        if found.percent == 100:
            raise QuantityError("nothing would ever change", "a correlation below 100 %", 'write "25 %"')
        return found
