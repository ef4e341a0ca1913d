"""A hunt from its scenario to its finds."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dumbbell.engines.events import OnEvent
from dumbbell.engines.protocol import BatchEngine
from dumbbell.engines.registry import engine as engine_of
from dumbbell.engines.signals import taken_over
from dumbbell.errors import Interrupted, RunFailed, unwritable
from dumbbell.frozen import dataclass
from dumbbell.hunt import finds, goals, network
from dumbbell.hunt.causes import Fault, clustered
from dumbbell.hunt.evaluating import MARGIN, Evaluator, Result, identity
from dumbbell.hunt.finds import Find
from dumbbell.hunt.goals import Goal
from dumbbell.hunt.log import FILE, Log
from dumbbell.hunt.search import BATCH, SEARCHES
from dumbbell.hunt.shrinking import shrink
from dumbbell.hunt.space import Candidate, Space, space
from dumbbell.plan.identity import canonical
from dumbbell.records import manifest as manifests
from dumbbell.records.files import write_json
from dumbbell.scenario.file.loading import Draft
from dumbbell.studies.cells import KEYS
from dumbbell.studies.directory import locked
from dumbbell.studies.planning import Planner, may_fork, planning_pool

HUNTS: Final = Path("hunts")
MANIFEST: Final = "hunt.json"
SHRUNK: Final = 12
"""The most faults that are shrunk: the worst of each set of kinds of events."""
BARREN: Final = 50
"""Batches in a row without a new candidate, after which a small space counts as searched."""


@dataclass(frozen=True)
class Wanted:
    """A hunt, and how to carry it out."""

    draft: Draft
    """The scenario with the algorithm under test."""
    goal: Goal
    than: Draft | None = None
    """The scenario with the algorithm that the one under test is compared with."""
    search: str = "evolution"
    seed: int = 1
    budget: int = 2000
    """Candidates to simulate."""
    time_s: float | None = None
    """Time after which the search ends, too."""
    threads: int = 1
    by: float = 0.5
    """With `than`: the share by which the algorithm under test must be worse."""
    is_first_enough: bool = False
    """True if the search ends with the first fault."""


@dataclass(frozen=True)
class Hunted:
    """The outcome of a hunt."""

    directory: Path
    runs: int
    """Candidates that were simulated, by this command and earlier ones."""
    faults: int
    """Candidates of the search that show a fault."""
    first: int | None
    """The number of the first of them, from 1."""
    failed: dict[str, int]
    """Error -> number of runs that failed so."""
    best: tuple[Candidate, Result] | None
    """The candidate nearest to a fault."""
    finds: Sequence[Find]
    wanted: Wanted
    cpu_s: float = 0.0
    """CPU time of this command."""
    wall_s: float = 0.0

    def as_json(self) -> dict[str, object]:
        """The fields as in `hunt.json`."""
        told: dict[str, object] = {"name": self.wanted.draft.data["name"], "goal": self.wanted.goal.name}
        told |= {"tool": {"dumbbell": manifests.tool_version(), "core": manifests.core_version()}}
        told |= {"search": self.wanted.search, "seed": self.wanted.seed, "runs": self.runs, "faults": self.faults}
        told |= {"first_fault": self.first, "failed": self.failed}
        told |= {"cpu_s": round(self.cpu_s, 1), "wall_s": round(self.wall_s, 1)}
        return told | {"finds": [one.as_json() for one in self.finds]}

    def write(self) -> None:
        """Write `hunt.json`. Raises `RunFailed`."""
        with _writing_to(self.directory):
            write_json(self.directory / MANIFEST, self.as_json())


def run_hunt(wanted: Wanted, root: Path, on_event: OnEvent) -> Hunted:
    """Search, shrink, and write what was found below `root`; the same hunt again continues.

    Raises:
        InputError: the scenario, the goal or the engine refuses it.
        RunFailed: no candidate could be simulated.
        Interrupted: Ctrl-C; the log keeps all results.
    """
    engine = engine_of("simulate")
    assert isinstance(engine, BatchEngine), "its capabilities say that it runs batches"
    began, cpu_before = time.monotonic(), _cpu_s()
    base, scenario = network.base(wanted.draft)
    goals.check(wanted.goal, base)
    if wanted.goal.of is not None:
        finds.check_subject(wanted.goal, scenario)
    searched = space(scenario.hunt, base.duration_ns, base.rate_bps, base.rtt_ns)
    drafts = [wanted.draft, *([] if wanted.than is None else [wanted.than])]
    version = manifests.core_version() or "none"
    plain = [draft.without(KEYS) for draft in drafts]
    planners = [Planner(draft, 1, engine, version) for draft in plain]
    checked = [planner.plan({}) for planner in planners]
    objects = {name: content for one in checked for name, content in one.objects}
    told = [canonical(draft.data) for draft in drafts] + sorted(objects)
    name = identity(version, wanted.goal.name, wanted.search, str(wanted.seed), str(wanted.by), *told)
    path = root / f"{scenario.name}-{name}"
    with locked(path), _writing_to(path), _pool(wanted.threads) as pool:
        log = Log(path / FILE)
        networks = [replace(base, flows=draft.data["flows"]) for draft in drafts]
        quick = [replace(planner, compiles=False) for planner in planners]
        subjects = list(zip(quick, networks, strict=True))
        evaluate = Evaluator(
            engine, subjects, wanted.goal, path / "going", wanted.threads, tuple(objects.items()), wanted.by, pool
        )
        # The processes of the pool begin now: they can't once polars has its threads.
        hunt = _Hunt(wanted, evaluate, searched, log, on_event)
        with taken_over(hunt.stop):
            hunt.search()
            found = hunt.shrunk()
        written = [
            finds.write(path, wanted.draft, base, number, one, wanted.goal) for number, one in enumerate(found, 1)
        ]
        said = hunt.outcome(path, written)
    said = replace(said, cpu_s=_cpu_s() - cpu_before, wall_s=time.monotonic() - began)
    said.write()
    return said


def confirmed(hunted: Hunted, kernel: str | None) -> Hunted:
    """The hunt with its finds replayed in a kernel, in virtual time. Raises as `dumbbell.run` if interrupted."""
    said = replace(hunted, finds=[finds.confirm(one, kernel) for one in hunted.finds])
    said.write()
    return said


class _Hunt:
    """The search, its log and its progress."""

    def __init__(self, wanted: Wanted, evaluate: Evaluator, space: Space, log: Log, on_event: OnEvent) -> None:
        self._wanted, self._evaluate, self._space, self._log = wanted, evaluate, space, log
        self._on_event = on_event
        self._stopped = False
        self._ends_at = None if wanted.time_s is None else time.monotonic() + wanted.time_s
        self._seen: dict[Candidate, Result] = {}
        """Results that the search has learnt, in the order of its proposals."""

    def stop(self) -> None:
        """End as soon as possible."""
        self._stopped = True

    def search(self) -> None:
        """Propose and learn until the budget or the time is spent."""
        # The plain network first: if it shows the fault, no search is needed.
        self._learn([()])
        if self._seen[()].is_fault:
            return
        search, barren = SEARCHES[self._wanted.search](self._space, self._wanted.seed), 0
        while not self._is_over() and barren < BARREN:
            proposed = search.propose(BATCH)
            new = list(dict.fromkeys(one for one in proposed if one not in self._seen))
            # The last batch is cut to the budget; and is learnt in full if the budget grows.
            cut = list(islice(new, self._wanted.budget - len(self._seen)))
            self._learn(cut)
            if len(cut) < len(new):
                return
            barren = 0 if new else barren + 1
            search.learn([(one, self._seen[one]) for one in proposed])
            self._refuse_all_failed()

    def _is_over(self) -> bool:
        is_late = self._ends_at is not None and time.monotonic() >= self._ends_at
        is_found = self._wanted.is_first_enough and any(map(_is_fault, self._seen.values()))
        return is_late or is_found or len(self._seen) >= self._wanted.budget

    def _simulate(self, candidates: Sequence[Candidate]) -> None:
        """Simulate the candidates that the log lacks."""
        missing = [one for one in dict.fromkeys(candidates) if one not in self._log.results]
        if missing:
            results = self._evaluate(missing, lambda: not self._stopped)
            self._raise_if_stopped()
            self._log.add(list(zip(missing, results, strict=True)))

    def _learn(self, candidates: Sequence[Candidate]) -> None:
        """Add the results of candidates, simulated or from the log."""
        self._simulate(candidates)
        self._seen |= {one: self._log.results[one] for one in candidates}
        best = self._best()
        told = {"runs": len(self._seen), "of": self._wanted.budget, "faults": sum(map(_is_fault, self._seen.values()))}
        score = None if best is None else best[1].score
        self._on_event({"event": "hunting", **told, "score": score, "best": None if best is None else best[0]})

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            why = f"{len(self._log.results):,} results are in its log"
            raise Interrupted("the hunt was interrupted", why, "the same command continues from there")

    def _refuse_all_failed(self) -> None:
        errors = [result.error for result in self._seen.values()]
        if len(errors) > BATCH and all(errors):
            hint = "mend the program, or the scenario; finished runs stay in the log"
            raise RunFailed(f"all of {len(errors):,} runs failed", str(errors[0]), hint)

    def _best(self) -> tuple[Candidate, Result] | None:
        decided = [(one, result) for one, result in self._seen.items() if result.score is not None]
        return min(decided, key=lambda one: (one[1].score, one[0]), default=None)

    def shrunk(self) -> list[Fault]:
        """A fault of each cause, shrunk; those with the fewest events first."""
        worst: dict[Any, Fault] = {}
        for candidate, result in self._seen.items():
            if result.is_fault:
                fault, kinds = Fault(candidate, result), tuple(sorted({gene.kind for gene in candidate}))
                if kinds not in worst or fault.rank < worst[kinds].rank:
                    worst[kinds] = fault
        chosen = sorted(worst.values(), key=lambda one: one.rank)[:SHRUNK]
        found: list[Fault] = []
        for number, fault in enumerate(chosen, 1):
            self._on_event({"event": "shrinking", "number": number, "of": len(chosen)})
            least = MARGIN if fault.result.is_clear else 1.0
            small = shrink(fault.candidate, self._space, partial(self._shows, least))
            found.append(Fault(small, self._log.results[small]))
        return clustered(found)

    def _shows(self, least: float, candidates: Sequence[Candidate]) -> list[bool]:
        """Tell of each candidate whether its score is below `least`."""
        self._raise_if_stopped()
        self._simulate(candidates)
        scores = [self._log.results[one].score for one in candidates]
        return [score is not None and score < least for score in scores]

    def outcome(self, path: Path, finds: Sequence[Find]) -> Hunted:
        """The outcome so far."""
        numbers = [number for number, one in enumerate(self._seen.values(), 1) if one.is_fault]
        failed = dict(Counter(one.error for one in self._seen.values() if one.error is not None))
        first, runs = next(iter(numbers), None), len(self._log.results)
        return Hunted(path, runs, len(numbers), first, failed, self._best(), finds, self._wanted)


def _is_fault(result: Result) -> bool:
    return result.is_fault


@contextmanager
def _pool(threads: int) -> Iterator[Any]:
    """Processes that plan candidates, where they can be made."""
    if threads < 2 or not may_fork():
        yield None
        return
    with planning_pool(threads) as pool:
        # They begin with the first job, and could not beside the threads of polars.
        pool.submit(_nothing).result()
        yield pool


def _nothing() -> None:
    pass


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(path, error, "the log keeps its results: the same command continues from there") from error


def _cpu_s() -> float:
    """CPU time of this process, and of those of its children that have ended."""
    return sum(os.times()[:4])
