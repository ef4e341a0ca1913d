"""The interface of every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from dumbbell.engines.capabilities import Capabilities
from dumbbell.engines.events import Event
from dumbbell.engines.orders import Order
from dumbbell.errors import Problem
from dumbbell.frozen import dataclass
from dumbbell.plan.types import Plan
from dumbbell.scenario import Scenario


@dataclass(frozen=True)
class Outcome:
    """The end of an execution that did not fail."""

    interrupted: bool
    """Stopped early by the user. The measurements until then are on disk."""


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
        """Wait for the end; returns the outcome. Takes the events that nobody has taken; raises as `events` does."""
        ...


class Engine(Protocol):
    """Carries out a plan."""

    capabilities: Capabilities

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> Sequence[Problem]:
        """The problems that keep this machine from carrying out the `plan` of `scenario`; empty if there are none.
        Starts nothing.

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


@dataclass(frozen=True)
class Batch:
    """Runs that an engine carries out in one call, in the order of their numbers. Only their figures are kept."""

    plans: tuple[str, ...]
    """Plans as JSON."""
    runs: tuple[tuple[int, int, int, int, str], ...]
    """Cell, index of the plan, repetition, seed in place of the plan's, run id."""
    directory: Path
    """The directory of the shards."""
    shard_runs: int
    """Runs in a shard; shards end at multiples of it."""
    objects: tuple[tuple[str, bytes], ...] = ()
    """The user's programs: hash of the source, compiled object."""
    first: int = 0
    """The number of the first run."""


@dataclass(frozen=True)
class Judging:
    """The verdict on the runs of a batch, while they are carried out."""

    judge: Callable[[int, str], tuple[str, str | None]]
    """`judge(plan, evidence)`: the verdict on a run of the plan with this index, and the reasons."""
    limited_share: float
    window_packets: int
    """A sound run need not be judged: windows held its flows back for no larger a share of their busy time, and no
    window was larger."""


@runtime_checkable
class BatchEngine(Engine, Protocol):
    """An engine whose capabilities say `batches`."""

    def run_batch(self, batch: Batch, threads: int, judging: Judging, tell: Callable[[Event], bool]) -> None:
        """Carry out the runs of `batch` that its directory lacks, in this process.

        `tell` is called with the progress about every 100 ms, and returns whether to continue. A run that fails doesn't
        end the others: it is a row with its error. Raises `RuntimeError` with what failed and why.
        """
        ...
