"""What carries out many runs: `Local`, this machine; `Ray`, the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from dumbbell.engines.protocol import Engine
from dumbbell.execute.budget import Budget, Fixed
from dumbbell.execute.job import Carried, Job, Key, Result
from dumbbell.execute.progress import Progress
from dumbbell.execute.simulations import Simulations, Tell
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario


class Executor(Protocol):
    """Carries out many runs, here or elsewhere.

    A run's directory, and a shard, are named by all that determines them, so an executor may lose a run and begin it
    again, on another machine, too: what is complete is found there.
    """

    @property
    def is_here(self) -> bool:
        """Whether runs are carried out on this machine: then it is asked for each cell whether it can."""
        ...

    @property
    def room(self) -> Budget | Fixed:
        """How many emulated runs there may be at a time: all machines as if they were one, for a forecast."""
        ...

    @property
    def shard_runs(self) -> int:
        """Simulated runs in a shard, at least: what is done by one machine at a time."""
        ...

    @property
    def told(self) -> Mapping[str, Any]:
        """Name and machines, for the study's manifest."""
        ...

    def check(self, engine: Engine, scenarios: Iterable[Scenario]) -> None:
        """See whether the machines can carry them out.

        Raises:
            InputError: with the machine, what it lacks, and what to do. Nothing was started.
        """
        ...

    def carry_out(
        self,
        jobs: Sequence[Job[Key]],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None] | None = None,
        on_refused: Callable[[Key, str], None] | None = None,
    ) -> Carried[Key, Result]:
        """Carry out `jobs`, begun in their order; those that lie on disk are not repeated.

        Args:
            jobs: with different keys, and no plan twice in one directory.
            measure: called here, once for each run that can be used, one at a time.
            on_progress: told after each attempt, and once before the first.
            on_refused: told of each run that is given up.

        Raises:
            InputError: a run is refused. The others that were going on have been ended.
            Interrupted: Ctrl-C. What is complete is kept.
        """
        ...

    def simulate(self, wanted: Simulations, tell: Tell) -> None:
        """Simulate what is missing of `wanted`, until `tell` says that it is enough; what is complete is kept.

        Raises:
            RunFailed: it can't go on. A run that fails doesn't end the others: it is a row with its error.
        """
        ...
