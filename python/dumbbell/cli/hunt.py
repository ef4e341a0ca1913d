"""`dumbbell hunt`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.options import Json, Kernel, ScenarioArgument, Set
from dumbbell.table import printable

if TYPE_CHECKING:
    from dumbbell.hunt.finds import Find
    from dumbbell.hunt.hunting import Hunted

_ROOT = Path("hunts")


def command(
    scenario: ScenarioArgument,
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc",
            metavar="CC",
            help="Congestion control of the flows under test: a name, or a program's file. Default: the scenario's.",
            show_default=False,
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="GOAL",
            help="stall, starvation, delay, loss, unfair, or a comparison: 'goodput of f1 < 1 Mbit/s'.",
        ),
    ] = "stall",
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="A", help="With --than: the congestion control under test.", show_default=False
        ),
    ] = None,
    than: Annotated[
        str | None,
        typer.Option(
            "--than", metavar="B", help="Hunt for networks on which the other does worse than B.", show_default=False
        ),
    ] = None,
    by: Annotated[
        int, typer.Option("--by", metavar="PERCENT", min=1, max=99, help="With --than: how much worse is a fault.")
    ] = 50,
    overrides: Set = None,
    budget: Annotated[int, typer.Option("--budget", metavar="N", min=1, help="Networks to simulate.")] = 2000,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="TIME", help="End the search after this time, too.", show_default=False),
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="End the search with the first fault.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the search.")] = 1,
    search: Annotated[
        str, typer.Option("--search", metavar="NAME", help="How to search: evolution, bandit or random.")
    ] = "evolution",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Runs at a time. Default: one per core.", show_default=False),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Replay what was found in a real kernel, in virtual time.")
    ] = False,
    kernel: Kernel = None,
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="Where hunts are kept.")] = _ROOT,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    r"""Search for networks on which a congestion control fails, and write the simplest as scenarios.

    It varies what \[hunt] of the scenario leaves open: rates, losses, delays, reordering, cross traffic. Runs are
    simulated. Faults are shrunk to few events, one of each cause, and each becomes a scenario with an expectation that
    fails. The same command continues where it was stopped.

    Exit code: 0 if no fault was found, 4 if one was, 2 for bad input, 1 if all runs failed, 130 if interrupted.
    """
    from dumbbell.cli.hunt_progress import progress
    from dumbbell.cli.times import time_of
    from dumbbell.errors import ExpectationFailed, InputError
    from dumbbell.hints import nearest
    from dumbbell.hunt.goals import goal as goal_of
    from dumbbell.hunt.hunting import Wanted, confirmed, run_hunt
    from dumbbell.hunt.network import with_algorithm
    from dumbbell.hunt.search import SEARCHES
    from dumbbell.scenario.file.loading import read

    if (against is None) != (than is None):
        lacking = "--than" if than is None else "--against"
        raise InputError(f"{lacking} is missing", "--against and --than go together", "--against bbr --than cubic")
    if cc is not None and against is not None:
        raise InputError("--cc beside --against", "--against names the congestion control under test", "omit --cc")
    if search not in SEARCHES:
        raise InputError(f"--search {search}: unknown", f"expected {', '.join(SEARCHES)}", nearest(search, SEARCHES))
    draft = read(scenario, overrides or [])
    wanted = Wanted(
        with_algorithm(draft, _path(against or cc)),
        goal_of(goal),
        None if than is None else with_algorithm(draft, _path(than)),
        search,
        seed,
        budget,
        None if time is None else time_of("--time", time) / 1e9,
        jobs or len(os.sched_getaffinity(0)),
        by / 100,
        first,
    )
    with progress(json or quiet) as display:
        hunted = run_hunt(wanted, output, display)
    if confirm:
        hunted = confirmed(hunted, kernel)
    _tell(hunted, json)
    return ExpectationFailed.exit_code if hunted.finds else 0


def _path(cc: str | None) -> str | None:
    """The name of a congestion control; the absolute path of a program's file, which a scenario seeks in its folder."""
    return str(Path(cc).absolute()) if cc is not None and Path(cc).is_file() else cc


def _tell(hunted: Hunted, json: bool) -> None:
    if json:
        from json import dumps

        print(dumps({"directory": str(hunted.directory), **hunted.as_json()}, indent=2))
        return
    from dumbbell.cli.output import say
    from dumbbell.counts import count

    first = "" if hunted.first is None else f", the first after {count(hunted.first, 'run')}"
    say(f"{count(hunted.runs, 'run')}, {hunted.cpu_s:.1f} CPU s: {count(hunted.faults, 'fault')}{first}")
    for why, runs in hunted.failed.items():
        say(f"{count(runs, 'run')} failed: {printable(why)}")
    if not hunted.finds and hunted.best is not None:
        from dumbbell.hunt.words import described

        result = hunted.best[1]
        say(f"nearest to a fault: {described(hunted.best[0])}: {result.value:.4g}, and the limit is {result.limit:.4g}")
    _print_finds(hunted.finds)
    print(hunted.directory)


def _print_finds(finds: Sequence[Find]) -> None:
    from dumbbell.cli.output import say
    from dumbbell.command import command as as_typed
    from dumbbell.hunt.words import described, outcome

    for number, one in enumerate(finds, 1):
        say(f"\n{number}. {one.cause}")
        say(f"   {described(one.fault.candidate)}")
        say(f"   {outcome(one)}")
        if one.confirmation is not None:
            say(f"   kernel: {one.confirmation}: {printable(one.said)}")
        say(f"   {as_typed('run', str(one.directory / 'scenario.toml'), '--engine', 'simulate')}")
    say()
