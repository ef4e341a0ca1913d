"""Numbers with units, exact.

A quantity is written `"<decimal number> <unit>"` and held as an integer of its smallest unit: nanoseconds, bits per
second, bytes. Parsing goes through exact fractions, never through floating point, and what is finer than the smallest
unit is refused. `str()` prints the shortest exact form, which parses back to the same value.

Bits and bytes are told apart by case as everywhere in networking: `bit` or `b` are bits, `B` are bytes; `k`, `M` and
`G` are powers of 1000, `Ki`, `Mi` and `Gi` of 1024. Rates are in bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

MAX = 2**63 - 1
"""The engines hold times and counts in 64 signed bits."""

_NUMBER = r"[0-9]{1,19}(?:\.[0-9]{1,18})?"
_QUANTITY = re.compile(rf"\s*(?P<sign>[+-]?)\s*(?P<number>{_NUMBER})\s*(?P<unit>\S*)\s*")


class QuantityError(ValueError):
    """A text that is no such quantity: what is `wrong`, what was `expected`, and a `hint` with an example."""

    def __init__(self, wrong: str, expected: str, hint: str) -> None:
        super().__init__(f"{wrong}; expected {expected}")
        self.wrong = wrong
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True)
class Grammar:
    """The units of one kind of quantity and the words for it in errors."""

    what: str
    """With its article, e.g. `a rate`."""
    units: Mapping[str, int]
    """Units to offer, each in smallest units."""
    aliases: Mapping[str, str]
    """Other spellings."""
    example: str
    likely: tuple[str, ...]
    """Units to offer to a number without one."""
    advice: Mapping[str, str]
    """What to say about a unit that looks right and is not."""

    @property
    def expected(self) -> str:
        """What a reader should have written."""
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
        return ""


class Quantity(int):
    """An exact integer of the smallest unit; base of `Time`, `Rate` and `Size`."""

    grammar: ClassVar[Grammar]
    printed: ClassVar[tuple[str, ...]]
    """Units to print in, the largest first."""
    minimum: ClassVar[int] = 0

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a text such as "10 ms"; a value of this type passes unchanged. Raises `QuantityError`."""
        if isinstance(value, cls):
            return value
        number, unit = cls.grammar.split(value)
        exact = number * cls.grammar.units[unit]
        if exact.denominator != 1:
            raise cls.grammar.refuse(f"finer than 1 {next(iter(cls.grammar.units))}")
        if exact > MAX:
            raise cls.grammar.refuse("too large")
        if exact < cls.minimum:
            raise QuantityError("zero", f"{cls.grammar.what} above zero", f'write "{cls.grammar.example}"')
        return cls(exact)

    def __str__(self) -> str:
        """The shortest exact text; among equals the largest unit."""
        value = int(self)
        texts = []
        for unit in self.printed:
            size = self.grammar.units[unit]
            if value >= size and (size % 10 == 0 or value % size == 0):
                texts.append(f"{decimal(Fraction(value, size))} {unit}")
        return min(texts, key=len, default=f"{value} {self.grammar.likely[0]}")

    def __repr__(self) -> str:
        """Type and text, e.g. `Time('10 ms')`."""
        return f"{type(self).__name__}('{self}')"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Parse on validation, print on serialisation to JSON."""
        return schema_of(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A string with the pattern of the known units."""
        return json_schema(cls.grammar)


class Time(Quantity):
    """Nanoseconds."""

    grammar = Grammar(
        what="a time",
        units={"ns": 1, "us": 1_000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
        aliases={"µs": "us", "μs": "us", "sec": "s"},
        example="30 ms",
        likely=("s", "ms"),
        advice={"m": 'write "min" for minutes or "ms" for milliseconds'},
    )
    printed = ("s", "ms", "us", "ns")


class Duration(Time):
    """Nanoseconds, more than zero."""

    grammar = replace(Time.grammar, example="20 s")
    minimum = 1


class Rate(Quantity):
    """Bits per second, more than zero."""

    grammar = Grammar(
        what="a rate",
        units={"bit/s": 1, "kbit/s": 1_000, "Mbit/s": 10**6, "Gbit/s": 10**9},
        aliases={
            **{"bps": "bit/s", "kbps": "kbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s"},
            **{"b/s": "bit/s", "kb/s": "kbit/s", "Mb/s": "Mbit/s", "Gb/s": "Gbit/s"},
        },
        example="100 Mbit/s",
        likely=("Mbit/s",),
        advice={
            **{unit: 'rates are in bits: 1 MB/s is "8 Mbit/s"' for unit in ("B/s", "kB/s", "MB/s", "GB/s")},
            **{unit: f'a rate is per second: write "{unit}/s"' for unit in ("bit", "kbit", "Mbit", "Gbit")},
        },
    )
    printed = ("Gbit/s", "Mbit/s", "kbit/s", "bit/s")
    minimum = 1


class Size(Quantity):
    """Bytes."""

    grammar = Grammar(
        what="a size",
        units={"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
        aliases={"byte": "B", "bytes": "B"},
        example="300 kB",
        likely=("B", "kB"),
        advice={unit: 'sizes are in bytes (capital B): 8 Mbit are "1 MB"' for unit in ("kb", "Mb", "Mbit", "kbit")},
    )
    printed = ("GB", "GiB", "MB", "MiB", "kB", "KiB", "B")


class Amount(Size):
    """Bytes, more than zero."""

    minimum = 1


class Packets(Quantity):
    """A number of packets, more than zero."""

    grammar = Grammar(
        "a number of packets",
        {"packets": 1},
        {"packet": "packets", "pkts": "packets"},
        "1000 packets",
        ("packets",),
        {},
    )
    printed = ("packets",)
    minimum = 1


@dataclass(frozen=True)
class Percent:
    """A probability, written in percent."""

    percent: Fraction

    grammar: ClassVar[Grammar] = Grammar("a percentage", {"%": 1}, {"percent": "%"}, "0.5 %", ("%",), {})

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
        """Between 0 and 1, the nearest double."""
        return float(self.percent / 100)

    def __str__(self) -> str:
        """The exact text."""
        return f"{decimal(self.percent)} %"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Parse on validation, print on serialisation to JSON."""
        return schema_of(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A string with the pattern of a percentage."""
        return json_schema(cls.grammar)


class Correlation(Percent):
    """How much of the former value is in the next one, below 100 %."""

    grammar = replace(Percent.grammar, what="a correlation", example="25 %")

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a text such as "25 %"; raises `QuantityError`."""
        found = super().parse(value)
        if found.percent == 100:
            raise QuantityError("nothing would ever change", "a correlation below 100 %", 'write "25 %"')
        return found


@dataclass(frozen=True)
class BufferSize:
    """How much may wait in a queue: bytes, packets, a time at the link's rate, BDPs, or no limit."""

    kind: Literal["bytes", "packets", "time", "bdp", "unlimited"]
    amount: Fraction = Fraction(0)
    """Bytes, packets, nanoseconds or multiples of the BDP."""

    grammar: ClassVar[Grammar] = Grammar(
        what="a buffer",
        units={**Size.grammar.units, "packets": 1, "ns": 1, "us": 1_000, "ms": 10**6, "s": 10**9, "bdp": 1},
        aliases={**Size.grammar.aliases, "µs": "us", "μs": "us", "packet": "packets", "pkts": "packets", "BDP": "bdp"},
        example="1 bdp",
        likely=("packets", "kB", "ms", "bdp"),
        advice=Size.grammar.advice,
    )

    @classmethod
    def parse(cls, value: object) -> BufferSize:
        """Read a text such as "375 kB", "100 packets", "30 ms", "1.5 bdp" or "unlimited"; raises `QuantityError`."""
        if isinstance(value, cls):
            return value
        if isinstance(value, str) and value.strip() == "unlimited":
            return cls("unlimited")
        number, unit = cls.grammar.split(value)
        amount = number * cls.grammar.units[unit]
        kind = cls._kind(unit)
        if amount == 0:
            raise cls.grammar.refuse("zero: no packet could ever wait", 'write "1 packet" for the smallest buffer')
        if kind != "bdp" and amount.denominator != 1:
            raise cls.grammar.refuse("finer than one of the smallest unit")
        if amount > MAX:
            raise cls.grammar.refuse("too large", 'write "unlimited" for a buffer that never fills')
        return cls(kind, amount)

    @staticmethod
    def _kind(unit: str) -> Literal["bytes", "packets", "time", "bdp"]:
        if unit in ("packets", "bdp"):
            return "packets" if unit == "packets" else "bdp"
        return "bytes" if unit in Size.grammar.units else "time"

    def __str__(self) -> str:
        """The exact text."""
        match self.kind:
            case "unlimited":
                return "unlimited"
            case "bytes":
                return str(Size(self.amount))
            case "time":
                return str(Time(self.amount))
            case kind:
                return f"{decimal(self.amount)} {kind}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Parse on validation, print on serialisation to JSON."""
        return schema_of(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A string with the pattern of the known units, or `unlimited`."""
        found = json_schema(cls.grammar)
        found["pattern"] = f"^\\s*unlimited\\s*$|{found['pattern']}"
        found["examples"] = ["1 bdp", "375 kB", "100 packets", "30 ms", "unlimited"]
        return found


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
