"""Traffic that comes and goes: what `on` may be, and UDP's `rate`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer, PlainValidator
from pydantic_core import CoreSchema

from dumbbell.frozen import dataclass
from dumbbell.units import Amount, Duration, Grammar, Percent, QuantityError, Rate, json_schema, schema_of


@dataclass(frozen=True)
class Burst:
    """The part that an application writes before it pauses: for a time, or so many bytes."""

    kind: Literal["time", "bytes"]
    amount: int
    """Nanoseconds or bytes."""

    grammar: ClassVar[Grammar] = Grammar(
        what="a time or a size",
        units={**Duration.grammar.units, **Amount.grammar.units},
        aliases={**Duration.grammar.aliases, **Amount.grammar.aliases},
        example="1 s",
        likely=("s", "kB"),
        foreign={**Duration.grammar.foreign, **Amount.grammar.foreign},
    )

    @classmethod
    def parse(cls, value: object) -> Burst:
        """Read a text such as "1 s" or "300 kB"; raises `QuantityError`."""
        if isinstance(value, cls):
            return value
        _, unit = cls.grammar.split(value)
        if unit in Duration.grammar.units:
            return cls("time", Duration.parse(value))
        return cls("bytes", Amount.parse(value))

    def __str__(self) -> str:
        """The exact text."""
        return str(Duration(self.amount) if self.kind == "time" else Amount(self.amount))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Parse on validation, print on serialisation to JSON."""
        return schema_of(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        """A string with the pattern of the known units."""
        return {**json_schema(cls.grammar), "examples": ["1 s", "300 kB"]}


def _rate(value: Any) -> Rate | Percent:
    if isinstance(value, Percent) or (isinstance(value, str) and value.rstrip().endswith(("%", "percent"))):
        share = Percent.parse(value)
        if not share.percent:
            raise QuantityError("zero", "a share of the bottleneck's rate above zero", 'write "10 %"')
        return share
    return Rate.parse(value)


RateOrShare = Annotated[
    Rate | Percent,
    PlainValidator(_rate, json_schema_input_type=Rate | Percent),
    PlainSerializer(str, when_used="json"),
]
"""A rate, or a share of the bottleneck's."""
