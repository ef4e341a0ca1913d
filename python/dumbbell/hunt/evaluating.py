"""Simulates candidates, many in one call, and keeps of each what the search needs."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell.engines.protocol import BatchEngine
from dumbbell.errors import ScenarioError
from dumbbell.execute import Simulations
from dumbbell.frozen import dataclass
from dumbbell.hunt import goals
from dumbbell.hunt.goals import Goal
from dumbbell.hunt.network import Base, values
from dumbbell.hunt.space import Candidate
from dumbbell.studies import entries, shards
from dumbbell.studies.directory import SHARDS
from dumbbell.studies.planning import Planned, Planner

if TYPE_CHECKING:
    import polars as pl

SHARD_RUNS: Final = 64
CHUNK: Final = 4
"""Candidates that a process plans at a time."""
MARGIN: Final = 0.5
"""Score below which a fault is clear. One that is stays so while it is shrunk."""
DIGITS: Final = 9
"""Significant digits of figures in the log."""


@dataclass(frozen=True)
class Result:
    """The outcome of a candidate."""

    score: float | None = None
    """Distance from a fault: below 1, the run shows one. `None`: the run decides nothing."""
    subject: str = ""
    """The flow or link that decides; empty: the run."""
    value: float | None = None
    """The metric of the subject."""
    limit: float | None = None
    """The bound of the metric: beyond it, the run shows a fault."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """Figures that describe the run: `retransmitted`, `rtt`, `utilisation`, `window`, `bottleneck`."""
    error: str | None = None
    """Why the run failed."""

    @property
    def is_fault(self) -> bool:
        """True if the run shows a fault."""
        return self.score is not None and self.score < 1

    @property
    def is_clear(self) -> bool:
        """True if the fault is so far beyond the limit that a model's small errors do not matter."""
        return self.score is not None and self.score < MARGIN

    def as_json(self) -> dict[str, object]:
        """The fields, without those that are empty."""
        return {key: value for key, value in asdict(self).items() if value not in (None, "", {})}


class Generation:
    """Frames of simulated candidates: each is a cell of its own."""

    manifest: Mapping[str, Any] = {}
    has_runs = True
    keys: Sequence[str] = ()
    copies: Mapping[int, Sequence[int]] = {}

    def __init__(self, directory: Path, count: int) -> None:
        """The candidates whose figures are in `directory`."""
        self.directory = directory
        self._count = count

    @cached_property
    def cells(self) -> pl.DataFrame:
        """A row per candidate."""
        import polars as pl

        return pl.DataFrame({"cell": pl.Series(range(self._count), dtype=pl.UInt32)})

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row per run."""
        return self.scan("runs").collect()

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row per run and flow."""
        return self.scan("flows").collect()

    @cached_property
    def links(self) -> pl.DataFrame:
        """A row per run and link."""
        return self.scan("links").collect()

    def scan(self, table: str) -> pl.LazyFrame:
        """`runs`, `flows` or `links` as a lazy frame."""
        rows = shards.scan(self.directory, table).sort("run", maintain_order=True)
        if table != "runs":
            own = shards.scan(self.directory, "runs").select("run", "cell", "repetition", "seed")
            rows = rows.join(own, on="run", how="inner", maintain_order="left")
        return entries.joined(self.directory, rows) if table == "flows" else rows


@dataclass(frozen=True)
class Evaluator:
    """Simulates candidates under one algorithm, or under two to compare them."""

    engine: BatchEngine
    subjects: Sequence[tuple[Planner, Base]]
    """Planner and network of the algorithm under test; and of the one that it is compared with."""
    goal: Goal
    directory: Path
    """Folder of figures that are being read."""
    threads: int
    objects: tuple[tuple[str, bytes], ...]
    """The user's programs: hash of the source, compiled object."""
    by: float = 0.5
    """Share by which the algorithm under test must be worse than the other."""
    pool: ProcessPoolExecutor | None = None
    """Processes that plan."""

    def __call__(self, candidates: Sequence[Candidate], goes_on: Callable[[], bool] = lambda: True) -> list[Result]:
        """The outcome of each candidate, whatever the number of threads. Empty if `goes_on` returned false meanwhile.

        A run that fails is an outcome with its error. Raises `RunFailed`.
        """
        found = [self._under(planner, base, candidates, goes_on) for planner, base in self.subjects]
        if not all(map(bool, found)):
            return []
        if len(found) == 1:
            return [self._judged(candidate, *one) for candidate, one in zip(candidates, found[0], strict=True)]
        return [self._compared(candidate, a, b) for candidate, a, b in zip(candidates, *found, strict=True)]

    @property
    def base(self) -> Base:
        """The network of the algorithm under test."""
        return self.subjects[0][1]

    def _judged(self, candidate: Candidate, figures: Figures, error: str | None) -> Result:
        if error is not None:
            return Result(error=error)
        reference = goals.reference(self.goal, self.base, candidate)
        decided = goals.decisive(self.goal, figures.values)
        if reference is None or decided is None:
            return Result(facts=figures.facts)
        return self._result(decided, self.goal.bound * reference, figures.facts)

    def _compared(self, candidate: Candidate, a: tuple[Figures, str | None], b: tuple[Figures, str | None]) -> Result:
        if error := a[1] or b[1]:
            return Result(error=error)
        decided = goals.decisive(self.goal, a[0].values)
        if decided is None or goals.reference(self.goal, self.base, candidate) is None:
            return Result(facts=a[0].facts)
        other = b[0].values.get(decided[0])
        if other is None or other <= 0:
            return Result(facts=a[0].facts)
        return self._result(decided, goals.worse(self.goal, other, self.by), a[0].facts)

    def _result(self, decided: tuple[str, float], limit: float, facts: Mapping[str, float]) -> Result:
        subject, value = decided
        distance = goals.score(self.goal, value, limit)
        return Result(_rounded(distance), subject, _rounded(value), _rounded(limit), facts)

    def _under(
        self, planner: Planner, base: Base, candidates: Sequence[Candidate], goes_on: Callable[[], bool]
    ) -> list[tuple[Figures, str | None]]:
        shutil.rmtree(self.directory, ignore_errors=True)
        (self.directory / SHARDS).mkdir(parents=True)
        cells = [values(base, candidate) for candidate in candidates]
        jobs = [(planner, cell) for cell in cells]
        plans = list(self.pool.map(_plan, jobs, chunksize=CHUNK) if self.pool else map(_plan, jobs))
        ready = [(i, one) for i, one in enumerate(plans) if isinstance(one, Planned)]
        runs = tuple((i, index, 0, one.seed, one.run_ids[0]) for index, (i, one) in enumerate(ready))
        texts = tuple(one.plans[0] for _, one in ready)
        entries.write(self.directory, [one.entries if isinstance(one, Planned) else () for one in plans])
        wanted = Simulations(texts, runs, self.directory / SHARDS, SHARD_RUNS, self.objects, engine=self.engine)
        stopped = False

        def tell(_: object) -> bool:
            nonlocal stopped
            stopped = stopped or not goes_on()
            return not stopped

        if ready:
            wanted.simulate(wanted.directory, self.threads, tell)
        if stopped:
            return []
        frames = Generation(self.directory, len(candidates))
        figures = figures_of(self.goal, self.base, frames) if ready else {}
        errors = {i: one for i, one in enumerate(plans) if isinstance(one, str)}
        if ready:
            errors |= {
                cell: why.partition("\nhint: ")[0]
                for cell, why in frames.runs.select("cell", "error").iter_rows()
                if why
            }
        shutil.rmtree(self.directory, ignore_errors=True)
        return [(figures.get(i, Figures()), errors.get(i)) for i in range(len(candidates))]


@dataclass(frozen=True)
class Figures:
    """Figures of a run."""

    values: Mapping[str, float] = field(default_factory=dict)
    """Subject -> the goal's metric."""
    facts: Mapping[str, float] = field(default_factory=dict)


def figures_of(goal: Goal, base: Base, frames: Generation) -> dict[int, Figures]:
    """Cell -> figures, of the runs that can be used."""
    import polars as pl

    cells = dict(frames.runs.select("run", "cell").iter_rows())
    found = {cells[run]: values for run, values in goals.subjects(goal, base, frames).items()}
    flow = frames.flows.filter(pl.col("group").is_in(base.tested)).group_by("cell", maintain_order=True)
    sent = pl.col("sent_bytes").sum() / 1448 + pl.col("retransmitted_segments").sum()
    facts = flow.agg(
        retransmitted=pl.col("retransmitted_segments").sum() / sent.clip(1),
        rtt=(pl.col("rtt_p95_ms") / pl.col("base_rtt_ms")).max(),
        window=pl.col("rwnd_limited_share").max(),
        bottleneck=pl.col("bottleneck_share").max(),
    )
    link = frames.links.filter(link=base.link).select("cell", "utilisation")
    told = facts.join(link, on="cell", how="left", maintain_order="left").to_dicts()
    described = {
        row.pop("cell"): {key: _rounded(value) for key, value in row.items() if value is not None} for row in told
    }
    return {cell: Figures(found.get(cell, {}), described.get(cell, {})) for cell in cells.values()}


def _plan(job: tuple[Planner, Mapping[str, Any]]) -> Planned | str:
    """The plan of a candidate, or why there is none."""
    planner, cell = job
    try:
        return planner.plan(cell)
    except ScenarioError as error:
        return error.problems[0].wrong or error.problems[0].what


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def identity(*parts: str) -> str:
    """12 hex digits that identify what `parts` say."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
