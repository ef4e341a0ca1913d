"""Orders to a run that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stop:
    """Stop early, and write down what was measured."""


@dataclass(frozen=True)
class StopNow:
    """End at once; records are cut short."""


@dataclass(frozen=True)
class ChangeLink:
    """A link is another from now on."""

    link: Mapping[str, Any]
    """The link as it is from then on, as in the plan; its `name` says which."""


Order = Stop | StopNow | ChangeLink
