"""Runs scenarios under both engines, and compares the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dumbbell.agree.comparison import Comparison, compare
from dumbbell.agree.figures import Figures, figures
from dumbbell.agree.spread import Spread, spread
from dumbbell.agree.targets import Status, judge, overall
from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.engines.planned import planned
from dumbbell.engines.protocol import Engine
from dumbbell.errors import InputError, Problem, ScenarioError
from dumbbell.execute import ATTEMPTS, Job, Progress, carry_out, look_up
from dumbbell.records import Run
from dumbbell.scenario import Scenario, load
from dumbbell.scenario.file.loading import read, seeded
from dumbbell.studies.cells import is_study

ENGINES: Final = (SIMULATE, EMULATE)
"""Engines in the order of running. Simulated runs come last: they take seconds, and disturb no emulated run then."""

Told = Callable[[str, Progress], None]
"""Called with an engine and the progress of its runs."""


@dataclass(frozen=True)
class Subject:
    """A scenario to compare."""

    name: str
    seeds: Mapping[int, Scenario]
    """The scenario with each repetition's seed."""
    directory: Path
    """The directory of its runs."""

    @classmethod
    def of(
        cls, source: str | Path | Mapping[str, Any] | Scenario, overrides: Sequence[str], repeat: int, root: Path
    ) -> Subject:
        """A scenario, `repeat` times: with its seed, and with the next ones.

        Raises `InputError` for a scenario that is refused.
        """
        draft = read(source, overrides)
        if is_study(draft):
            hint = "omit [sweep], repeat and [[expect]], or run it under both engines"
            raise InputError(f"{draft.name} is a study", "single scenarios can be compared", hint)
        first = load(source, overrides)
        seeds = range(first.seed, first.seed + repeat)
        scenarios = {seed: load(source, [*overrides, f"seed={seed}"]) for seed in seeds}
        return cls(first.name, scenarios, root / first.name)

    def again(self) -> Subject:
        """The subject with one more repetition."""
        seed, scenario = max(self.seeds.items())
        return replace(self, seeds={**self.seeds, seed + 1: seeded(scenario, seed + 1)})


@dataclass(frozen=True)
class Pair:
    """A repetition: the directories of its runs."""

    seed: int
    emulated: Path
    simulated: Path


@dataclass(frozen=True)
class Outcome:
    """The result for one subject."""

    subject: Subject
    comparison: Comparison
    pairs: tuple[Pair, ...]
    refused: tuple[str, ...]
    """Unusable runs, and why."""
    spread: Spread | None = None
    """The simulator's results with other seeds, if requested."""


def check(subjects: Sequence[Subject], engines: Mapping[str, Engine]) -> None:
    """Raise `InputError` if an engine refuses a subject, or two have the same name. Starts nothing."""
    names = [subject.name for subject in subjects]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"two scenarios have the name {twice!r}", "their runs would share a directory", "rename one of them"
        )
    problems: dict[str, Problem] = {}
    for subject in subjects:
        scenario = next(iter(subject.seeds.values()))
        for name in ENGINES:
            for found in engines[name].check(scenario, planned(engines[name], scenario)):
                # Each problem is reported once, however many cells have it.
                where = "" if scenario.source.text else f"{subject.name}: "
                problems.setdefault(found.what, replace(found, what=where + found.what))
    if problems:
        raise ScenarioError(list(problems.values()))


def carry_out_both(
    subjects: Sequence[Subject],
    engines: Mapping[str, Engine],
    at_once: int = 1,
    told: Told | None = None,
    resimulate: bool = False,
    as_is: bool = False,
) -> list[Outcome]:
    """Run all repetitions of all subjects under both engines, and compare them.

    Args:
        subjects: checked.
        engines: by name.
        at_once: how many runs at a time.
        told: of the progress.
        resimulate: repeat simulated runs that are on disk.
        as_is: run nothing, and compare what is on disk.
    """
    found: dict[str, dict[tuple[str, int], tuple[Path, Figures]]] = {}
    refused: dict[str, dict[tuple[str, int], str]] = {}
    for name in ENGINES:
        engine = engines[name]
        jobs = [
            Job(
                (subject.name, seed),
                scenario,
                engine,
                subject.directory,
                1 if engine.capabilities.deterministic else ATTEMPTS,
            )
            for subject in subjects
            for seed, scenario in subject.seeds.items()
        ]
        on_progress = None if told is None else _named(name, told)
        if as_is:
            carried = look_up(jobs, _measure)
        else:
            carried = carry_out(
                jobs, _measure, at_once, on_progress, again=resimulate and engine.capabilities.deterministic
            )
        found[name], refused[name] = carried.results, carried.refused
    return [_outcome(subject, found, refused) for subject in subjects]


def until_inside(
    subjects: Sequence[Subject], most: int, carry_out: Callable[[Sequence[Subject]], list[Outcome]]
) -> list[Outcome]:
    """Carry out `subjects`, and repeat those that are not within all targets, until all are or have had `most` runs.

    Stopping as soon as an interval is inside favours that answer a little: at the last look, its confidence is not
    quite what it says (A. Wald, Annals of Mathematical Statistics 16:117, 1945).
    """
    outcomes = {outcome.subject.name: outcome for outcome in carry_out(subjects)}
    while open_ := [
        outcome.subject.again()
        for outcome in outcomes.values()
        if len(outcome.subject.seeds) < most and overall(judge(outcome.comparison)) is not Status.INSIDE
    ]:
        outcomes |= {outcome.subject.name: outcome for outcome in carry_out(open_)}
    return list(outcomes.values())


def with_spread(outcomes: Sequence[Outcome], seeds: int) -> list[Outcome]:
    """The outcomes, each with the spread of `seeds` simulated seeds, which is kept beside its runs."""
    return [
        replace(one, spread=spread(next(iter(one.subject.seeds.values())), seeds, one.subject.directory / "seeds"))
        for one in outcomes
    ]


def _measure(run: Run) -> tuple[Path, Figures]:
    return run.directory, figures(run)


def _named(engine: str, told: Told) -> Callable[[Progress], None]:
    return lambda progress: told(engine, progress)


def _outcome(
    subject: Subject,
    found: Mapping[str, Mapping[tuple[str, int], tuple[Path, Figures]]],
    refused: Mapping[str, Mapping[tuple[str, int], str]],
) -> Outcome:
    """The outcome of the repetitions that both engines have."""
    keys = [(subject.name, seed) for seed in subject.seeds]
    both = [key for key in keys if all(key in found[name] for name in ENGINES)]
    pairs = tuple(Pair(key[1], found[EMULATE][key][0], found[SIMULATE][key][0]) for key in both)
    said = tuple(
        f"{name}, seed {key[1]}: {refused[name][key]}" for name in ENGINES for key in keys if key in refused[name]
    )
    comparison = compare([(found[EMULATE][key][1], found[SIMULATE][key][1]) for key in both])
    return Outcome(subject, comparison, pairs, said)
