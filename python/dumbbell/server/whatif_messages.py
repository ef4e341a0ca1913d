"""Messages of the view "What if": the numbers of a scenario that can be turned, and the plan of a change."""

from __future__ import annotations

from pydantic import Field

from dumbbell.server.messages import Asked, Key, Message
from dumbbell.server.run_messages import Legend


class Knob(Message):
    """A value of a scenario that can be turned: a number with its unit, or one of several words."""

    key: Key
    path: str
    """The key as `--set` has it: `topology.bottleneck.rate`."""
    title: str
    group: str
    """Thing that the value belongs to, such as `Flow f1`."""
    written: bool
    """False: the scenario does not say it, and the value is its default."""
    value: float
    """Value; of a word its index in `words`."""
    unit: str = ""
    words: list[str] = Field(default=[])
    """The values that it can have, if it is no number."""
    low: float = 0
    high: float = 0
    log: bool = False
    """The slider goes by factors."""
    whole: bool = False
    """A whole number without a unit."""


class Knobs(Message):
    """`GET /api/whatif/knobs`: the values of a scenario that can be turned; those that it says come first."""

    name: str
    knobs: list[Knob]


class PlanAsked(Asked):
    """`POST /api/whatif/plan`: plan a scenario of the workspace with other values."""

    path: str
    overrides: list[str] = Field(default=[], max_length=200)
    """Overrides, as after `--set`."""


class Planned(Message):
    """The plan of a simulated run, and what its plots need."""

    plan: str
    """Plan, as `plan.json` has it."""
    legend: Legend
    packets: float
    """An estimate of the packets that it takes: what its links can carry at most."""


class SaveAsked(Asked):
    """`POST /api/whatif/save`: write a copy of a scenario with other values."""

    path: str
    to: str
    overrides: list[str] = Field(default=[], max_length=200)
