"""The runs that an executor carries out with their records, and their results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from dumbbell.engines.protocol import Engine
from dumbbell.errors import DumbbellError
from dumbbell.frozen import dataclass
from dumbbell.pipeline.planned import planned
from dumbbell.plan.identity import run_id
from dumbbell.records.manifest import core_version
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

ATTEMPTS = 4
"""Attempts of each run. A busy machine makes runs invalid, perhaps only for a while: hence three more."""


@dataclass(frozen=True)
class Job(Generic[Key]):
    """A run to carry out."""

    key: Key
    scenario: Scenario
    engine: Engine
    directory: Path
    """The directory of runs; this run's own is below it."""
    attempts: int = ATTEMPTS
    """The most attempts; one is enough if every attempt gives the same."""
    identity: str = ""
    """Its `run_id` if it is known: computing it takes milliseconds."""
    kind: Hashable = None
    """Jobs of one kind cost the same, so the measured cost of the first serves for the others."""
    cores: float = 1.0
    """CPUs that it needs, estimated from its plan."""
    again: bool = False
    """True if the machine disturbed the run on disk, and another attempt is wanted. The better of both counts."""
    only_valid: bool = False
    """True if a suspect run is of no more use than an invalid one."""

    @property
    def duration_s(self) -> float:
        """Duration of the run."""
        return float(self.scenario.duration) / 1e9

    @cached_property
    def stem(self) -> str:
        """The name of the run's directory, which identifies everything that determines the run."""
        identity = self.identity or run_id(
            planned(self.engine, self.scenario), self.engine.capabilities.name, core_version() or "none"
        )
        return f"{self.scenario.name}-{identity}"

    def earlier(self) -> Run | None:
        """A usable run on disk."""
        directory = self.directory / self.stem
        if not directory.exists():
            return None
        try:
            run = Run(directory)
            return None if self.unusable(run) else run
        except DumbbellError:
            # It is of another version, or broken: a new run moves it aside.
            return None

    def unusable(self, run: Run) -> str:
        """Why a run of this job is unusable; empty: it is usable."""
        if run.verdict == "valid" or (run.verdict == "suspect" and not self.only_valid):
            return ""
        return f"{run.verdict}: {', '.join(reason['check'] for reason in run.summary['reasons'])}"


@dataclass
class Carried(Generic[Key, Result]):
    """The results of jobs."""

    results: dict[Key, Result] = field(default_factory=dict)
    """Results of usable runs: valid or suspect ones, unless a job takes valid ones only."""
    refused: dict[Key, str] = field(default_factory=dict)
    """Key -> why no attempt is usable."""
    redone: int = 0
    """Further attempts of runs that the machine had disturbed ..."""
    cured: int = 0
    """... and how many of these are valid."""


def look_up(jobs: Sequence[Job[Key]], measure: Callable[[Run], Result]) -> Carried[Key, Result]:
    """The usable results of `jobs` on disk, without those that are wanted again. Runs nothing."""
    found = ((job.key, job.earlier()) for job in jobs if not job.again)
    return Carried({key: measure(run) for key, run in found if run is not None})
