"""The base of all parts of a link: a table of keys, and its form in the plan."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from dumbbell.scenario.table import Table, shorthand, word_for_none
from dumbbell.units import Correlation, Percent, Rate, Size, Time

_UNITS: dict[type, str] = {Time: "ns", Size: "bytes", Rate: "bps"}
"""The units of quantities in the plan."""


class LinkPart(Table):
    """A part of a link, such as its queue discipline or an impairment: its keys are its parameters."""

    @property
    def has_effect(self) -> bool:
        """True if anything can ever happen to a packet by it."""
        return True

    def in_plan(self) -> dict[str, object]:
        """The part as the crate `plan` declares its parameters.

        Times end in `_ns`, sizes in `_bytes`, rates of data in `_bps`; a share of packets is the probability of each.
        """
        found: dict[str, object] = {}
        for key, field in type(self).model_fields.items():
            value = getattr(self, key)
            types = [type_ for type_ in (field.annotation, *get_args(field.annotation)) if isinstance(type_, type)]
            unit = next((unit for of, unit in _UNITS.items() if any(issubclass(type_, of) for type_ in types)), None)
            if unit is not None:
                found[f"{key}_{unit}"] = None if value is None else int(value)
            elif isinstance(value, Percent):
                found["probability" if key == "rate" else key] = value.probability
            else:
                found[key] = value
        return found


class Sometimes(LinkPart):
    """Something that befalls a packet with some probability."""

    rate: Percent = Field(description="Share of packets.")
    correlation: Correlation = Field(
        default=Correlation.parse("0 %"),
        description="Correlation of a packet's fate with that of the packet before. The rate is kept.",
    )

    @property
    def has_effect(self) -> bool:
        """True if any packet is affected."""
        return bool(self.rate.percent)


_SometimesTable = Annotated[Sometimes, BeforeValidator(lambda value: shorthand("rate", value))]
LinkSometimes = Annotated[_SometimesTable | None, *word_for_none("none", Percent | Literal["none"] | Sometimes)]
"""`"0.1 %"`, a table, or `"none"`."""
