"""Orders to a run that goes on."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.plan.types import Link


@dataclass(frozen=True)
class Stop:
    """Stop early, and write down what was measured."""


@dataclass(frozen=True)
class StopNow:
    """End at once; records are cut short."""


@dataclass(frozen=True)
class ChangeLink:
    """A link is another from now on."""

    link: Link
    """The link as it is from then on; its `name` says which."""


Order = Stop | StopNow | ChangeLink
