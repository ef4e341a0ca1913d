"""The tables of docs/reference/gym.md."""

from __future__ import annotations

from dumbbell.core import core
from dumbbell.gym.policy import FEATURES


def observations() -> str:
    """A row for each number of an observation."""
    rows = [
        f"| {at} | `{name}` | {unit} | {meaning} |" for at, (name, unit, _, meaning) in enumerate(core.held_fields())
    ]
    return "\n".join(["| | number | unit | meaning |", "| --- | --- | --- | --- |", *rows])


def features() -> str:
    """A row for each input of a policy."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in FEATURES.items()]
    return "\n".join(["| input | meaning |", "| --- | --- |", *rows])
