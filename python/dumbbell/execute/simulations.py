"""Many runs in one call of an engine. Only their figures are kept, in shards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path

from dumbbell.analysis.judging import SCREEN, Judge
from dumbbell.core import core
from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Batch, BatchEngine, Judging
from dumbbell.errors import RunFailed, remedy
from dumbbell.frozen import dataclass
from dumbbell.plan.identity import canonical

Tell = Callable[[Event], bool]
"""Called with the progress about every 100 ms; returns whether to continue."""


@dataclass(frozen=True)
class Simulations(Batch):
    """The runs of a study and their engine."""

    engine: BatchEngine = field(kw_only=True)

    def simulate(self, directory: Path, threads: int, tell: Tell) -> None:
        """Carry out in this process the runs that `directory` lacks. Raises `RunFailed`."""
        judge = Judge(self.plans, self.engine.capabilities.name)
        judging = Judging(judge, *SCREEN)
        try:
            self.engine.run_batch(replace(self, directory=directory), threads, judging, tell)
        except RuntimeError as error:
            raise _failed(error, directory) from error

    def missing(self) -> list[tuple[int, int]]:
        """Missing shards: the number of the first run, and that after the last. Raises `RunFailed`."""
        try:
            return core.missing_shards(self.directory, len(self.runs), self.shard_runs)
        except RuntimeError as error:
            raise _failed(error, self.directory) from error

    def part(self, first: int, end: int) -> Simulations:
        """The runs with these numbers alone, with their plans."""
        runs = self.runs[first - self.first : end - self.first]
        used = {plan: index for index, plan in enumerate(dict.fromkeys(run[1] for run in runs))}
        own = tuple((cell, used[plan], repetition, seed, run_id) for cell, plan, repetition, seed, run_id in runs)
        return replace(self, plans=tuple(self.plans[plan] for plan in used), runs=own, first=first)

    @property
    def name(self) -> str:
        """A name that identifies the figures: a hash of numbers, cells, and run ids."""
        told = [[cell, repetition, seed, run_id] for cell, _, repetition, seed, run_id in self.runs]
        return f"shard-{hashlib.sha256(canonical([self.first, told]).encode()).hexdigest()[:24]}"


def _failed(error: RuntimeError, directory: Path) -> RunFailed:
    what, _, why = str(error).partition(": ")
    kept = f"finished runs are in {directory.parent}, and the same command continues from there"
    return RunFailed(f"the study failed: {what}", why, "; ".join(filter(None, [remedy(why), kept])))
