"""Executors, which carry out many runs: `Local` on this machine, `Ray` on the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from dumbbell.engines.protocol import Engine
from dumbbell.execute.budget import Budget, Fixed
from dumbbell.execute.job import Carried, Job, Key, Result
from dumbbell.execute.progress import Progress
from dumbbell.execute.simulations import Simulations, Tell
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario


class Executor(Protocol):
    """Carries out many runs, here or elsewhere.

    The name of a run's directory, and of a shard, identifies everything that determines it. An executor may therefore
    lose a run and begin it again, also on another machine: complete results are found by name.
    """

    @property
    def is_here(self) -> bool:
        """True if runs are carried out on this machine. If so, the engine checks each cell on this machine."""
        ...

    @property
    def room(self) -> Budget | Fixed:
        """Limits the emulated runs at a time, over all machines; a forecast uses it."""
        ...

    @property
    def shard_runs(self) -> int:
        """The least number of simulated runs in a shard, which one machine carries out as a unit."""
        ...

    @property
    def manifest(self) -> Mapping[str, object]:
        """Name and machines, for the study's manifest."""
        ...

    def check(self, engine: Engine, scenarios: Iterable[Scenario]) -> None:
        """Check that the machines can carry out `scenarios`.

        Raises:
            InputError: names the machine, what it lacks, and what to do. Nothing was started.
        """
        ...

    def run_jobs(
        self,
        jobs: Sequence[Job[Key]],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None] | None = None,
        on_refused: Callable[[Key, str], None] | None = None,
        redo: bool = False,
    ) -> Carried[Key, Result]:
        """Carry out `jobs`, begun in their order; runs on disk are not repeated.

        Args:
            jobs: have different keys, and no plan occurs twice in one directory.
            measure: called in this process for each usable run, one at a time; again for a run that was disturbed, if
                a further attempt of it is usable.
            on_progress: called after each attempt, and once before the first.
            on_refused: called for each run that is given up.
            redo: carry out again, after all others, runs that the machine disturbed (`Redo`).

        Raises:
            InputError: a run is refused. The other runs in progress have been ended.
            Interrupted: Ctrl-C. Complete runs are kept.
        """
        ...

    def simulate(self, wanted: Simulations, tell: Tell) -> None:
        """Simulate the missing runs of `wanted`, until `tell` returns false; complete shards are kept.

        Raises:
            RunFailed: it can't continue. A run that fails doesn't end the others: it is a row with its error.
        """
        ...
