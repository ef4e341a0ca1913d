"""Sizes of buffers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from dumbbell.frozen import dataclass
from dumbbell.units.grammar import MAX, Grammar, decimal, json_schema, schema_of
from dumbbell.units.quantities import Size, Time


@dataclass(frozen=True)
class BufferSize:
    """The size of a queue: bytes, packets, a time at the link's rate, BDPs, or no limit."""

    kind: Literal["bytes", "packets", "time", "bdp", "unlimited"]
    amount: Fraction = Fraction(0)
    """Bytes, packets, nanoseconds or multiples of the BDP."""
    least_packets: int = 1
    """Full frames for which a buffer in time or BDPs has room at least."""
    least_ns: int = 0
    """Time at the link's rate for which it has room at least."""

    grammar: ClassVar[Grammar] = Grammar(
        what="a buffer",
        units={**Size.grammar.units, "packets": 1, "ns": 1, "us": 1_000, "ms": 10**6, "s": 10**9, "bdp": 1},
        aliases={**Size.grammar.aliases, "µs": "us", "μs": "us", "packet": "packets", "pkts": "packets", "BDP": "bdp"},
        example="1 bdp",
        likely=("packets", "kB", "ms", "bdp"),
        foreign=Size.grammar.foreign,
        foreign_words=Size.grammar.foreign_words,
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
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        """A string with the pattern of the known units, or `unlimited`."""
        found = json_schema(cls.grammar)
        found["pattern"] = f"^\\s*unlimited\\s*$|{found['pattern']}"
        found["examples"] = ["1 bdp", "375 kB", "100 packets", "30 ms", "unlimited"]
        return found
