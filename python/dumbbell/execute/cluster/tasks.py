"""The tasks of nodes, which run in the main thread of a worker process of Ray.

An exception here reaches the driver, and ends the study; Ctrl-C there is a KeyboardInterrupt here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Engine
from dumbbell.engines.signals import taken_over
from dumbbell.errors import Interrupted, Problem, RunFailed
from dumbbell.execute.cluster.archive import pack
from dumbbell.execute.cluster.store import Store
from dumbbell.execute.job import Job
from dumbbell.execute.simulations import Simulations
from dumbbell.frozen import dataclass
from dumbbell.pipeline.planned import planned
from dumbbell.pipeline.run import run
from dumbbell.records.files import lock, remove_unlocked
from dumbbell.scenario.model import Scenario

SCRATCH = "dumbbell-task-"
"""Prefix of a task's directory. It is removed with its task, or, if that was killed, with the next one."""


@dataclass(frozen=True)
class Made:
    """The result of a task."""

    name: str
    """Name of the archive in the store."""
    archive: bytes | None
    """The archive; `None`: it is in the store."""
    why: str = ""
    """Why the result is unusable; empty: it is usable."""
    told: Mapping[str, object] = field(default_factory=dict)
    """The last progress event of simulated runs."""


def attempt(job: Job[Any], others: Mapping[str, int], place: str | None) -> Made:
    """Carry out a run. If another node has put it into the store meanwhile, it is taken from there."""
    store = Store(place) if place else None
    if store and not job.again and store.has(job.stem):
        return Made(job.stem, None)
    # Ray's workers have a low priority, which an emulator's must not be.
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    with _scratch() as root:
        runs = root / "runs"
        try:
            why = job.unusable(run(job.scenario, directory=runs, engine=job.engine, report=False, others=others))
        except RunFailed as error:
            why = error.what
        (folder,) = (path for path in runs.iterdir() if path.is_dir())
        return _made(folder, job.stem, why, None if why else store, {})


def simulate(part: Simulations, place: str | None) -> Made:
    """Carry out simulated runs, on one core."""
    store = Store(place) if place else None
    if store and store.has(part.name):
        return Made(part.name, None)
    last: dict[str, object] = {}
    wanted = True

    def stop() -> None:
        nonlocal wanted
        wanted = False

    def tell(event: Event) -> bool:
        last.update(event)
        return wanted

    with _scratch() as root:
        with taken_over(stop):
            part.simulate(root / "shards", 1, tell)
        if not wanted:
            raise Interrupted("the task was ended")
        (folder,) = (root / "shards").iterdir()
        return _made(folder, part.name, "", store, last)


def check(engine: Engine, scenarios: Sequence[Scenario]) -> list[Problem]:
    """Problems that keep this node from running `scenarios` in real time."""
    if engine.capabilities.real_time:
        from dumbbell.doctor.examine import core
        from dumbbell.doctor.finding import Level

        lacking = [Problem(f"{one.name}: {one.detail}", "", one.fix) for one in core() if one.level is Level.MISSING]
        if lacking:
            return lacking
    found = (problem for scenario in scenarios for problem in engine.check(scenario, planned(engine, scenario)))
    return list(dict.fromkeys(found))


def _made(folder: Path, name: str, why: str, store: Store | None, account: Mapping[str, object]) -> Made:
    archive = folder.parents[1] / "archive"
    pack(folder, archive)
    if store is None:
        return Made(name, archive.read_bytes(), why, account)
    store.put(name, archive)
    return Made(name, None, why, account)


@contextmanager
def _scratch() -> Iterator[Path]:
    remove_unlocked(Path(tempfile.gettempdir()), SCRATCH)
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder, lock(Path(folder) / "lock"):
        yield Path(folder)
