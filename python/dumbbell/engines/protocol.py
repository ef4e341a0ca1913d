"""What every engine offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dumbbell.errors import Problem
from dumbbell.scenario import Scenario

Event = Mapping[str, Any]
"""What happens while a run is going on: `{"event": "progress", "time_ns": ..., ...}`."""
OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Outcome:
    """How an execution that did not fail ended."""

    interrupted: bool
    """Stopped early by the user. What was measured until then is on disk."""


class Engine(Protocol):
    """Carries out a plan."""

    name: str
    """As in `names`: it says which accounts its runs have, and goes into their identity."""

    def check(self, scenario: Scenario, plan: Mapping[str, Any]) -> Sequence[Problem]:
        """What keeps this machine from carrying out the `plan` of `scenario`; empty if nothing does. Starts nothing."""
        ...

    def execute(self, plan: Mapping[str, Any], directory: Path, lock: int, on_event: OnEvent) -> Outcome:
        """Carry out `plan`, whose `plan.json` lies in `directory`, and write the records there.

        Args:
            plan: the expanded run.
            directory: the run directory, made and locked.
            lock: descriptor of the lock, for every process that writes to `directory`.
            on_event: told of each event.

        Raises:
            RunFailed: with what failed, why, and a hint.
        """
        ...
