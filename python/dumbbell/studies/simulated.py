"""Runs of a study in the simulator: many in one process, of which only the figures are kept.

In the order of their numbers, which goes through all cells before any is repeated: what is deterministic depends on no
order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from dumbbell.core import function
from dumbbell.engines.protocol import Event, OnEvent
from dumbbell.engines.signals import taken_over
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.studies.directory import SHARDS
from dumbbell.studies.judging import SCREEN, Judge
from dumbbell.studies.planning import Planned
from dumbbell.studies.schedule import Run

SHARD_RUNS: Final = 64
"""Runs in a shard, at least. A command that is killed has at most so many to do again on each core."""
SHARDS_IN_ALL: Final = 256
"""About how many there are in a large study: each file takes time to open."""


def carry_out(plans: Sequence[Planned], runs: Sequence[Run], path: Path, threads: int, on_event: OnEvent) -> Event:
    """Carry out what is missing; the last progress event. Ctrl-C ends it."""
    last: dict[str, Any] = {}
    wanted = True

    def stop() -> None:
        nonlocal wanted
        wanted = False

    def tell(text: str) -> bool:
        last.update(json.loads(text))
        try:
            on_event(last)
        except (KeyboardInterrupt, Interrupted):
            stop()
        return wanted

    firsts = list(accumulate((len(plan.plans) for plan in plans), initial=0))
    told = [(run.cell, *_of(plans[run.cell], firsts[run.cell], run.repetition)) for run in runs]
    texts = [text for plan in plans for text in plan.plans]
    size = shard_runs(len(runs))
    simulate_many = function("simulate_many")
    with taken_over(stop):
        try:
            simulate_many(
                texts,
                told,
                path / SHARDS,
                tell,
                shard_runs=size,
                threads=threads,
                judge=Judge(texts),
                screen=SCREEN,
            )
        except RuntimeError as error:
            what, _, why = str(error).partition(": ")
            raise RunFailed(f"the study failed: {what}", why, f"what is finished is in {path}") from error
    return last


def _of(plan: Planned, first: int, repetition: int) -> tuple[int, int, int, str]:
    """Index of its plan, repetition, seed, run id; `first` is the index of the cell's first plan."""
    index = first + min(repetition, len(plan.plans) - 1)
    return index, repetition, plan.seed + repetition, plan.run_ids[repetition]


def shard_runs(runs: int) -> int:
    """Of a study with so many runs: `SHARD_RUNS` times a power of two, so that one that grows keeps to its shards."""
    size = SHARD_RUNS
    while size * SHARDS_IN_ALL < runs:
        size *= 2
    return size
