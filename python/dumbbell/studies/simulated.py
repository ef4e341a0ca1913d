"""Runs of a study in the simulator: many in one process. Only their figures are kept.

The order is that of their numbers, which goes through all cells before any is repeated: deterministic runs depend on no
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from dumbbell.engines.events import Event, OnEvent
from dumbbell.engines.protocol import BatchEngine
from dumbbell.engines.signals import taken_over
from dumbbell.errors import Interrupted
from dumbbell.execute import Executor, Simulations
from dumbbell.studies import shards
from dumbbell.studies.directory import SHARDS
from dumbbell.studies.planning import Planned
from dumbbell.studies.schedule import Scheduled

SHARDS_IN_ALL: Final = 256
"""About how many shards a large study has: each file takes time to open."""


def simulate_runs(
    engine: BatchEngine,
    plans: Sequence[Planned],
    runs: Sequence[Scheduled],
    path: Path,
    executor: Executor,
    on_event: OnEvent,
) -> Event:
    """Carry out the missing runs. Returns the last progress event. Ctrl-C ends it."""
    last: dict[str, object] = {}
    wanted = True

    def stop() -> None:
        nonlocal wanted
        wanted = False

    def tell(event: Event) -> bool:
        last.update(event)
        try:
            on_event(last)
        except (KeyboardInterrupt, Interrupted):
            stop()
        return wanted

    firsts = list(accumulate((len(plan.plans) for plan in plans), initial=0))
    told = tuple((run.cell, *_of(plans[run.cell], firsts[run.cell], run.repetition)) for run in runs)
    texts = tuple(text for plan in plans for text in plan.plans)
    size = shard_runs(len(runs), executor.shard_runs)
    shards.set_aside(path)
    with taken_over(stop):
        compiled = tuple(dict(one for plan in plans for one in plan.objects).items())
        executor.simulate(Simulations(texts, told, path / SHARDS, size, compiled, engine=engine), tell)
    return last


def _of(plan: Planned, first: int, repetition: int) -> tuple[int, int, int, str]:
    """Index of its plan, repetition, seed, run id; `first` is the index of the cell's first plan."""
    index = first + min(repetition, len(plan.plans) - 1)
    return index, repetition, plan.seed + repetition, plan.run_ids[repetition]


def shard_runs(runs: int, least: int) -> int:
    """Runs in a shard for this many runs: `least` times a power of two, which keeps shards valid when a study grows."""
    size = least
    while size * SHARDS_IN_ALL < runs:
        size *= 2
    return size
