"""Runs scenarios under two engines, and compares the results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from dumbbell.agree.comparison import Comparison, Engines, compare
from dumbbell.agree.figures import Figures, figures
from dumbbell.agree.targets import Status, judge, overall
from dumbbell.engines.protocol import Engine
from dumbbell.errors import InputError, Problem, ScenarioError
from dumbbell.execute import ATTEMPTS, Job, Progress, look_up, run_jobs
from dumbbell.frozen import dataclass
from dumbbell.pipeline.planned import planned
from dumbbell.records import Run
from dumbbell.scenario import Scenario, load
from dumbbell.scenario.file.loading import read
from dumbbell.studies.cells import is_study
from dumbbell.studies.directory import check_place

Teller = Callable[[str, Progress], None]
"""Called with an engine and the progress of its runs."""


@dataclass(frozen=True)
class Subject:
    """A scenario to compare."""

    name: str
    seeds: Mapping[int, Scenario]
    """The scenario with each repetition's seed."""
    directory: Path
    """The directory of its runs."""
    of_seed: Callable[[int], Scenario]
    """The scenario with another seed."""
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Overrides for one of the compared engines, as after `--set`, by the engine's name: its kernel."""

    @classmethod
    def of(
        cls,
        source: str | Path | Mapping[str, Any] | Scenario,
        overrides: Sequence[str],
        repeat: int,
        root: Path,
        settings: Mapping[str, Sequence[str]] | None = None,
        starts_ns: int = 0,
    ) -> Subject:
        """A scenario, `repeat` times: with its seed, and with the next ones; flows start up to `starts_ns` later.

        Raises `InputError` for a scenario that is refused.
        """
        draft = read(source, overrides)
        if is_study(draft):
            hint = "omit [sweep], repeat and [[expect]], or run it under each engine"
            raise InputError(f"{draft.name} is a study", "single scenarios can be compared", hint)
        first = load(source, overrides)

        def of_seed(seed: int) -> Scenario:
            return load(source, [*overrides, f"seed={seed}", *([f"starts={starts_ns} ns"] if starts_ns else [])])

        seeds = range(first.seed, first.seed + repeat)
        return cls(first.name, {seed: of_seed(seed) for seed in seeds}, root / first.name, of_seed, settings or {})

    def under(self, name: str, scenario: Scenario) -> Scenario:
        """One of the scenarios, as the engine with this name gets it."""
        return load(scenario, self.settings[name]) if name in self.settings else scenario

    def again(self, most: int) -> Subject:
        """The subject with twice as many repetitions, or `most`."""
        first = min(self.seeds)
        more = range(first + len(self.seeds), first + min(2 * len(self.seeds), most))
        return replace(self, seeds={**self.seeds, **{seed: self.of_seed(seed) for seed in more}})


@dataclass(frozen=True)
class Pair:
    """A repetition: the directories of its runs."""

    seed: int
    first: Path
    second: Path


@dataclass(frozen=True)
class Outcome:
    """The result for one subject."""

    subject: Subject
    comparison: Comparison
    pairs: tuple[Pair, ...]
    refused: tuple[str, ...]
    """Unusable runs, and why."""


def check(subjects: Sequence[Subject], engines: Mapping[str, Engine]) -> None:
    """Raise `InputError` if an engine refuses a subject, two have the same name, or the directory of one is a link or
    has one. Starts nothing."""
    names = [subject.name for subject in subjects]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"two scenarios have the name {twice!r}", "their runs would share a directory", "rename one of them"
        )
    for subject in subjects:
        if os.path.lexists(subject.directory):
            check_place(subject.directory)
    problems: dict[str, Problem] = {}
    for subject in subjects:
        scenario = next(iter(subject.seeds.values()))
        for name, engine in engines.items():
            asked = subject.under(name, scenario)
            for found in engine.check(asked, planned(engine, asked)):
                # Each problem is reported once, however many cells have it.
                where = "" if scenario.source.text else f"{subject.name}: "
                problems.setdefault(found.what, replace(found, what=where + found.what))
    if problems:
        raise ScenarioError(list(problems.values()))


def run_both(
    subjects: Sequence[Subject],
    engines: Mapping[str, Engine],
    at_once: int = 1,
    teller: Teller | None = None,
    resimulate: bool = False,
    as_is: bool = False,
    only_valid: bool = False,
) -> list[Outcome]:
    """Run all repetitions of all subjects under two engines, and compare them.

    Args:
        subjects: checked.
        engines: the first and the second, by name. A deterministic one runs each seed once, whatever comes of it.
        at_once: how many runs at a time.
        teller: is told of the progress.
        resimulate: repeat runs on disk whose TCP is a model.
        as_is: run nothing, and compare what is on disk.
        only_valid: a suspect run doesn't count; it is repeated like an invalid one.
    """
    found: dict[str, dict[tuple[str, int], tuple[Path, Figures]]] = {}
    refused: dict[str, dict[tuple[str, int], str]] = {}
    for name, engine in engines.items():
        jobs = [
            Job(
                (subject.name, seed),
                subject.under(name, scenario),
                engine,
                subject.directory,
                1 if engine.capabilities.deterministic else ATTEMPTS,
                only_valid=only_valid,
            )
            for subject in subjects
            for seed, scenario in subject.seeds.items()
        ]
        on_progress = None if teller is None else _named(name, teller)
        if as_is:
            carried = look_up(jobs, _measure)
        else:
            carried = run_jobs(
                jobs, _measure, at_once, on_progress, again=resimulate and engine.capabilities.models_tcp
            )
        found[name], refused[name] = carried.results, carried.refused
    first, second = engines
    return [_outcome((first, second), subject, found, refused) for subject in subjects]


def until_decided(
    subjects: Sequence[Subject], most: int, run: Callable[[Sequence[Subject]], list[Outcome]]
) -> list[Outcome]:
    """Carry out `subjects`, and repeat those that are undecided, until none is or all have had `most` runs.

    Each look at the intervals is another chance to be wrong: at the last one, their confidence is not quite what it
    says (A. Wald, Annals of Mathematical Statistics 16:117, 1945). So the runs are doubled, which makes few looks, and
    a scenario that is outside is not given another chance, as one that is inside isn't.
    """
    outcomes = {outcome.subject.name: outcome for outcome in run(subjects)}
    while open_ := [
        outcome.subject.again(most)
        for outcome in outcomes.values()
        if len(outcome.subject.seeds) < most and overall(judge(outcome.comparison)) is Status.UNDECIDED
    ]:
        outcomes |= {outcome.subject.name: outcome for outcome in run(open_)}
    return list(outcomes.values())


def _measure(run: Run) -> tuple[Path, Figures]:
    return run.directory, figures(run)


def _named(engine: str, teller: Teller) -> Callable[[Progress], None]:
    return lambda progress: teller(engine, progress)


def _outcome(
    engines: Engines,
    subject: Subject,
    figures: Mapping[str, Mapping[tuple[str, int], tuple[Path, Figures]]],
    refused: Mapping[str, Mapping[tuple[str, int], str]],
) -> Outcome:
    """The outcome of the repetitions that both engines have."""
    keys = [(subject.name, seed) for seed in subject.seeds]
    first, second = (figures[name] for name in engines)
    both = [key for key in keys if key in first and key in second]
    pairs = tuple(Pair(key[1], first[key][0], second[key][0]) for key in both)
    said = tuple(
        f"{name}, seed {key[1]}: {refused[name][key]}" for name in engines for key in keys if key in refused[name]
    )
    comparison = compare(engines, [(first[key][1], second[key][1]) for key in both])
    return Outcome(subject, comparison, pairs, said)
