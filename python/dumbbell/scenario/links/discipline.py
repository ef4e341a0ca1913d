"""What all queue disciplines have: a kind, parameters that may follow from the link, and their form in the plan."""

from __future__ import annotations

from typing import Any, Self, get_args

from dumbbell.scenario.table import Table
from dumbbell.units import Percent, Rate, Size, Time

ECN = "Mark packets of ECN-capable flows instead of dropping them."
"""What the key `ecn` of a discipline does."""


class Discipline(Table):
    """A queue discipline: its keys are its parameters."""

    kind: str

    def settled(self, rate: Rate | None, buffer: int | None, frame: int, rtt: int) -> Self:
        """With all parameters given, those that follow from the link too.

        `rate`: the link's, `None` without a limit. `buffer`: in bytes, `None` without a limit. `frame`: bytes of a full
        frame. `rtt`: the largest base RTT in ns. Raises `QuantityError` for parameters that the link makes impossible.
        """
        return self

    def in_plan(self) -> dict[str, Any]:
        """As the crate `plan` declares the discipline's parameters: times as `_ns`, sizes as `_bytes`."""
        found: dict[str, Any] = {}
        for key, field in type(self).model_fields.items():
            value = getattr(self, key)
            types = [type_ for type_ in (field.annotation, *get_args(field.annotation)) if isinstance(type_, type)]
            if any(issubclass(type_, Time) for type_ in types):
                found[f"{key}_ns"] = None if value is None else int(value)
            elif any(issubclass(type_, Size) for type_ in types):
                found[f"{key}_bytes"] = None if value is None else int(value)
            else:
                found[key] = value.probability if isinstance(value, Percent) else value
        return found
