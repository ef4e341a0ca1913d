"""The interface of every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from dumbbell.engines.capabilities import Capabilities
from dumbbell.engines.events import Event
from dumbbell.engines.orders import Order
from dumbbell.errors import Problem
from dumbbell.plan.types import Plan
from dumbbell.scenario import Scenario


@dataclass(frozen=True)
class Outcome:
    """The end of an execution that did not fail."""

    interrupted: bool
    """Stopped early by the user. What was measured until then is on disk."""


class LiveRun(Protocol):
    """A run that goes on. Entering the context starts it; leaving ends whatever is left of it."""

    def __enter__(self) -> Self:
        """Start it."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End whatever is left of it."""
        ...

    def events(self) -> Iterator[Event]:
        """The events of the run, until it is over.

        Raises:
            RunFailed: with what failed, why, and a hint.
            Interrupted: the run was ended at once, or before it began.
        """
        ...

    def order(self, order: Order) -> None:
        """Give an order; from any thread, or a signal handler.

        It is carried out, or answered with an event `refused`, while somebody asks for `events`. Orders to a run that
        is over do nothing.
        """
        ...

    def wait(self) -> Outcome:
        """How it ended. Takes the events that nobody has taken; raises as `events` does."""
        ...


class Engine(Protocol):
    """Carries out a plan."""

    capabilities: Capabilities

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> Sequence[Problem]:
        """What keeps this machine from carrying out the `plan` of `scenario`; empty if nothing does. Starts nothing.

        `text` is the plan as JSON, if it is known.
        """
        ...

    def prepare(self, plan: Plan, directory: Path, lock: int) -> LiveRun:
        """A run of `plan`, which writes its records to `directory`. It is not started yet.

        Args:
            plan: the expanded run; `plan.json` in `directory` says the same.
            directory: the run directory, made and locked.
            lock: descriptor of the lock, for every process that writes to `directory`.
        """
        ...
