"""Times, rates, sizes and numbers of packets: integers of their smallest unit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from dumbbell.units.grammar import MAX, Grammar, QuantityError, decimal, json_schema, schema_of


class Quantity(int):
    """An exact integer of the smallest unit; base of `Time`, `Rate` and `Size`."""

    grammar: ClassVar[Grammar]
    printed: ClassVar[tuple[str, ...]]
    """Units for printing, the largest first."""
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
            raise QuantityError("zero", f"{cls.grammar.what} above zero", cls.grammar.for_example)
        return cls(exact)

    def __str__(self) -> str:
        """The shortest exact text; among equals the largest unit."""
        kind: Any = type(self)
        return _text(kind, int(self))

    def __repr__(self) -> str:
        """Type and text, e.g. `Time('10 ms')`."""
        return f"{type(self).__name__}('{self}')"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Parse on validation, print on serialisation to JSON."""
        return schema_of(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        """A string with the pattern of the known units."""
        return json_schema(cls.grammar)


@lru_cache(maxsize=4096)
def _text(kind: Any, value: int) -> str:
    """The text of a value of a kind of quantity."""
    texts = []
    for unit in kind.printed:
        size = kind.grammar.units[unit]
        if value >= size and (size % 10 == 0 or value % size == 0):
            texts.append(f"{decimal(Fraction(value, size))} {unit}")
    return min(texts, key=len, default=f"{value} {kind.grammar.likely[0]}")


class Time(Quantity):
    """Nanoseconds."""

    grammar = Grammar(
        what="a time",
        units={"ns": 1, "us": 1_000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
        aliases={"µs": "us", "μs": "us", "sec": "s"},
        example="30 ms",
        likely=("s", "ms"),
        foreign={unit: (Fraction(3600 * 10**9), "min") for unit in ("h", "hour", "hours")},
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
        foreign={
            prefix + unit: (Fraction(8 * 1000**power), "bit/s")
            for power, prefix in enumerate(("", "k", "M", "G"))
            for unit in ("B/s", "Bps", "byte/s", "bytes/s")
        },
        foreign_words="rates are in bits",
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
        foreign={
            prefix + unit: (Fraction(1000**power, 8), "B")
            for power, prefix in enumerate(("", "k", "M", "G"))
            for unit in ("b", "bit")
        },
        foreign_words="sizes are in bytes",
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
    )
    printed = ("packets",)
    minimum = 1
