"""Runs that are wanted of an executor, each with its records, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from dumbbell.engines.protocol import Engine
from dumbbell.errors import InputError
from dumbbell.plan import expand, run_id
from dumbbell.records.manifest import core_version
from dumbbell.records.run import Run
from dumbbell.scenario.model import Scenario

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

ATTEMPTS = 4
"""A machine that is too busy says so in the verdict. Three more chances: it may be for a while."""


@dataclass(frozen=True)
class Job(Generic[Key]):
    """A run that is wanted."""

    key: Key
    scenario: Scenario
    engine: Engine
    directory: Path
    """Where runs are kept; this one's own is below it."""
    attempts: int = ATTEMPTS
    """At most; one is enough where every attempt gives the same."""
    identity: str = ""
    """Its `run_id` if it is known: reckoning it takes milliseconds."""
    kind: Hashable = None
    """Jobs of one kind cost alike: what the first has cost tells about the others."""
    cores: float = 1.0
    """CPUs that it needs, as far as its plan tells."""

    @property
    def duration_s(self) -> float:
        """Of the run."""
        return float(self.scenario.duration) / 1e9

    @cached_property
    def stem(self) -> str:
        """The name of the run's directory: it says all that determines the run."""
        identity = self.identity or run_id(expand(self.scenario), self.engine.name, core_version() or "none")
        return f"{self.scenario.name}-{identity}"

    def earlier(self) -> Run | None:
        """A run on disk that can be used."""
        directory = self.directory / self.stem
        if not directory.exists():
            return None
        try:
            run = Run(directory)
        except InputError:
            # Of another version, or broken: a new one moves it out of the way.
            return None
        return None if run.verdict == "invalid" else run


@dataclass
class Carried(Generic[Key, Result]):
    """What became of them."""

    results: dict[Key, Result] = field(default_factory=dict)
    """Of runs that are valid or suspect."""
    refused: dict[Key, str] = field(default_factory=dict)
    """Why no attempt of the others can be used."""


def look_up(jobs: Sequence[Job[Key]], measure: Callable[[Run], Result]) -> Carried[Key, Result]:
    """What lies on disk of `jobs` and can be used. Nothing is run."""
    found = ((job.key, job.earlier()) for job in jobs)
    return Carried({key: measure(run) for key, run in found if run is not None})
