"""The executor of a cluster."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dumbbell.engines.protocol import Engine
from dumbbell.errors import InputError, Problem, RunFailed, ScenarioError
from dumbbell.execute import batch
from dumbbell.execute.batch import Ended
from dumbbell.execute.budget import Budget, Fixed, Room
from dumbbell.execute.cluster import tasks
from dumbbell.execute.cluster.archive import pack, unpack
from dumbbell.execute.cluster.nodes import EMULATE, Node, alive, ask, connect, unlike
from dumbbell.execute.cluster.store import Store, absolute
from dumbbell.execute.cluster.tasks import Made
from dumbbell.execute.cluster.version import version
from dumbbell.execute.cluster.workers import Call, Kind, Workers
from dumbbell.execute.job import Carried, Job, Key, Result
from dumbbell.execute.progress import Progress
from dumbbell.execute.simulations import Simulations, Tell
from dumbbell.records.directory import adopt, attempts
from dumbbell.records.files import sync, sync_tree
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario

ARRIVING: Final = ".arriving"
"""Folder below the directory of runs for results that are being unpacked."""
WAITING: Final = 1
"""Shards that wait on each node for a CPU, so that no CPU is idle while the driver is busy."""
COUNTED: Final = ("runs", "failed", "packets", "simulated_s", "cpu_s")
"""Fields of a progress event that are summed over the parts."""


class Ray:
    """The nodes of a Ray cluster; see `Executor`."""

    is_here = False
    shard_runs = 1
    """A shard is carried out by one node."""

    def __init__(self, address: str | None = None, store: str | None = None, jobs: int | None = None) -> None:
        """Does not connect yet.

        Args:
            address: `HOST:PORT` of its head; by default, the cluster that this machine belongs to.
            store: a directory that all nodes share, or a URL: results are kept there, too. By default, they come by way
                of Ray.
            jobs: runs at a time on each node; by default, as many as go well.
        """
        self._address, self._place, self._jobs = address, None if store is None else absolute(store), jobs
        self._able: list[Node] = []
        """Nodes that passed the checks."""
        self._asked: tuple[Engine, Sequence[Scenario]] | None = None
        """The checks, for nodes that join later."""

    @cached_property
    def _ray(self) -> Any:
        return connect(self._address)

    @property
    def room(self) -> Budget | Fixed:
        """The budget of all nodes that emulate."""
        if self._jobs:
            return Fixed(self._jobs * max(len(self._able), 1))
        if self._asked is not None and not self._asked[0].capabilities.real_time:
            return Fixed(max(int(sum(node.cpus for node in self._able)), 1))
        return Budget(sum(node.emulate for node in self._able) or 1.0)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The nodes at the beginning, and the store."""
        return {"name": "ray", "store": self._place, "nodes": [node.manifest for node in self._able]}

    def check(self, engine: Engine, scenarios: Iterable[Scenario]) -> None:
        """Check all nodes."""
        emulated = engine.capabilities.real_time
        self._asked = engine, [] if engine.capabilities.batches else list(scenarios)
        wanted = [node for node in alive(self._ray) if (node.emulate if emulated else node.cpus) > 0]
        found = self._problems(wanted)
        if not found:
            lacks = EMULATE if emulated else "CPUs"
            hint = "ray start ..." + (f" --resources '{{\"{EMULATE}\": 4}}' on nodes of 4 cores" if emulated else "")
            raise InputError("no node of the cluster can do this", f"none declares {lacks}", hint)
        problems = [problem for some in found.values() for problem in some]
        if problems:
            raise ScenarioError(problems)
        self._able = list(found)

    def _problems(self, nodes: Sequence[Node]) -> dict[Node, list[Problem]]:
        """Node -> what keeps it from carrying out the runs. Nodes that have left meanwhile are left out."""
        assert self._asked is not None
        (engine, scenarios), store = self._asked, Store(self._place) if self._place else None
        probe = f"probe-{uuid.uuid4().hex}" if store else None
        if store and probe:
            with TemporaryDirectory() as folder:
                pack(Path(folder), archive := Path(folder) / "probe")
                store.put(probe, archive)
        try:
            found = unlike(self._ray, nodes, version(), probe, self._place)
        finally:
            if store and probe:
                store.remove(probe)
        if any(found.values()) or not scenarios:
            return found
        for node, said in ask(self._ray, tasks.check, list(found), engine, scenarios).items():
            problems = [Problem("it does not answer", str(said))] if isinstance(said, Exception) else said
            found[node] = [Problem(f"{node}: {one.what}", one.why, one.hint) for one in problems]
        return found

    def _accept(self, node: Node) -> str | None:
        """Why a node that has joined later is unusable; empty if it is not meant to be used."""
        assert self._asked is not None
        engine, _ = self._asked
        if not (node.emulate if engine.capabilities.real_time else node.cpus):
            return ""
        problems = self._problems([node]).get(node, [Problem("it has left again")])
        return "\n".join(problem.text() for problem in problems) or None

    def _workers(self, kind: Kind[Any, Any]) -> Workers[Any, Any]:
        there = {node.id for node in alive(self._ray)}
        return Workers(self._ray, kind, [node for node in self._able if node.id in there], self._accept)

    def run_jobs(
        self,
        jobs: Sequence[Job[Key]],
        measure: Callable[[Run], Result],
        on_progress: Callable[[Progress], None] | None = None,
        on_refused: Callable[[Key, str], None] | None = None,
        redo: bool = False,
    ) -> Carried[Key, Result]:
        """Carry out `jobs`, each as a task on a node that takes emulated runs."""
        self._fetch([(job.stem, job) for job in jobs if not (job.directory / job.stem).exists()], self._take)
        kind: Kind[Job[Key], Run] = Kind(lambda job: job.key, self._budget, self._call, self._take)
        return batch.run_jobs(jobs, self._workers(kind), measure, on_progress, on_refused, redo=redo)

    def _budget(self, node: Node) -> Room:
        if self._asked is not None and not self._asked[0].capabilities.real_time:
            return self._cores(node)
        return Fixed(self._jobs) if self._jobs else Budget(node.emulate)

    def _call(self, job: Job[Any], node: Node, room: Room) -> Call:
        if not job.engine.capabilities.real_time:
            others = attempts(job.directory, job.stem)
            return Call(tasks.attempt, (job, others, self._place), min(1.0, node.cpus))
        cost = room.cost(job) if isinstance(room, Budget) else job.cores
        share = round(cost, 4)
        others = attempts(job.directory, job.stem)
        return Call(tasks.attempt, (job, others, self._place), min(share, node.cpus), min(share, node.emulate))

    def _take(self, job: Job[Any], made: Made) -> Ended[Job[Any], Run]:
        folder = self._bring(made, job.directory / ARRIVING)
        path = adopt(folder, job.stem)
        folder.parent.rmdir()
        return Ended(job, Run(path) if folder.name == job.stem else None, made.why)

    def simulate(self, wanted: Simulations, tell: Tell) -> None:
        """Simulate each shard of `wanted` as a task on one core of a node."""
        began = time.monotonic()

        def part_of(numbers: tuple[int, int]) -> tuple[str, Simulations]:
            part = wanted.part(*numbers)
            return part.name, part

        def take(part: Simulations, made: Made) -> Ended[Simulations, Mapping[str, Any]]:
            folder = self._bring(made, wanted.directory / f".partial-{made.name}")
            sync_tree(folder)
            folder.rename(wanted.directory / folder.name)
            sync(wanted.directory)
            folder.parent.rmdir()
            return Ended(part, made.told, made.why)

        self._fetch([part_of(numbers) for numbers in wanted.missing()], take)
        parts = [part for _, part in map(part_of, wanted.missing())]
        found = len(wanted.runs) - sum(len(part.runs) for part in parts)
        event: dict[str, object] = {"event": "progress", "of": len(wanted.runs), "found": found}
        event |= dict.fromkeys(COUNTED, 0) | {"runs": found, "wall_s": 0.0}

        def settle(ended: Ended[Simulations, Mapping[str, Any]]) -> None:
            if ended.given is None:
                raise RunFailed("the study failed", ended.why, f"finished runs are in {wanted.directory.parent}")
            # A shard that was in the store already has reported nothing.
            told = {"runs": len(ended.task.runs), **ended.given}
            event.update({key: event[key] + told.get(key, 0) for key in COUNTED})

        def look() -> None:
            event["wall_s"] = time.monotonic() - began
            if not tell(event):
                raise _Enough

        kind: Kind[Simulations, Mapping[str, Any]] = Kind(lambda part: part.first, self._cores, self._part, take)
        try:
            batch.all_of(parts, self._workers(kind), settle, look)
            look()
        except _Enough:
            pass

    def _cores(self, node: Node) -> Room:
        return Fixed(WAITING + (self._jobs or max(int(node.cpus), 1)))

    def _part(self, part: Simulations, node: Node, room: Room) -> Call:
        return Call(tasks.simulate, (part, self._place), min(1.0, node.cpus))

    def _fetch(self, wanted: Sequence[tuple[str, Any]], take: Callable[[Any, Made], Any]) -> None:
        """Copy the results that the store already has to this machine."""
        names = Store(self._place).names() if self._place and wanted else set()
        for name, task in wanted:
            if name in names:
                take(task, Made(name, None))

    def _bring(self, made: Made, into: Path) -> Path:
        """Unpack a node's result. Returns the folder."""
        if made.archive is not None:
            return unpack(made.archive, into)
        assert self._place is not None
        with TemporaryDirectory() as folder:
            archive = Path(folder) / "archive"
            Store(self._place).fetch(made.name, archive)
            return unpack(archive, into)


class _Enough(Exception):
    """The receiver of the progress asks to stop."""
