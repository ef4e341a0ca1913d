"""`dumbbell agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli.options import Json, Kernel, Set
from dumbbell.cli.times import time_of

if TYPE_CHECKING:
    from dumbbell.agree.comparison import Engines
    from dumbbell.agree.drawn import About
    from dumbbell.agree.study import Outcome, Subject
    from dumbbell.engines.protocol import Engine

_ROOT = Path("runs/agree")


def command(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO...", help="TOML files, or names of bundled scenarios.", show_default=False),
    ] = None,
    overrides: Set = None,
    engines: Annotated[
        str,
        typer.Option(
            "--engines",
            metavar="A,B",
            help="The engines to compare; differences are B less A. virtual@NAME names a kernel.",
        ),
    ] = "emulate,simulate",
    kernel: Kernel = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="Compare the bundled cells in place of scenarios.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Only cells with an algorithm alone, on three paths.")] = False,
    random: Annotated[
        int,
        typer.Option("--random", min=0, metavar="N", help="Compare N scenarios drawn at random in place of scenarios."),
    ] = 0,
    seed: Annotated[
        int, typer.Option("--seed", min=0, metavar="N", help="With --random: the same seed draws the same scenarios.")
    ] = 1,
    cells: Annotated[
        list[str] | None,
        typer.Option("--cells", metavar="PATTERN", help="Only cells that match PATTERN, e.g. 'bbr_*'. Repeatable."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the names of the cells, and run nothing.")] = False,
    repeat: Annotated[int, typer.Option("--repeat", min=1, metavar="N", help="Runs under each engine.")] = 3,
    first_seed: Annotated[
        int | None,
        typer.Option(
            "--first-seed",
            min=0,
            metavar="N",
            help="Seed of the first run; the next ones have N + 1, N + 2, ... Default: the scenario's own.",
            show_default=False,
        ),
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(
            "--starts",
            metavar="TIME",
            help="Start each flow by chance up to TIME later, by the seed, equally under each engine.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--most", min=0, metavar="N", help="Repeat scenarios that are undecided, up to N runs."),
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Runs at a time.")] = 1,
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="Where runs and tables are kept.")] = _ROOT,
    resimulate: Annotated[
        bool, typer.Option("--resimulate", help="Repeat simulated runs on disk, after a change to the simulator.")
    ] = False,
    as_is: Annotated[bool, typer.Option("--as-is", help="Run nothing: compare the runs on disk.")] = False,
    only_valid: Annotated[
        bool, typer.Option("--only-valid", help="Leave out suspect runs; repeat them as invalid ones are.")
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Run scenarios under two engines, and say how well they agree: the kernel and the simulator, or any other two.

    Each scenario is run N times under either engine, with N seeds. Runs on disk are not repeated, except invalid
    emulated runs.

    Exit code: 0 if the targets are met (for a matrix or random scenarios: by 95 % of them), 1 if not, 3 if a scenario
    has no valid runs, 2 for bad input, 130 if interrupted.
    """
    _refuse(scenarios or [], overrides or [], matrix, random, quick, bool(cells) or list_)
    chosen = _cells(matrix, quick, random, seed, cells or [])
    if list_:
        print("\n".join(cell.name for cell in chosen))
        return 0
    from dumbbell.agree.study import Subject

    both, settings = _engines(engines, kernel)
    starts_ns = 0 if starts is None else time_of("--starts", starts)
    told = [*(overrides or []), *([] if first_seed is None else [f"seed={first_seed}"])]
    subjects = [
        Subject.of(one if isinstance(one, str) else one.scenario(), told, repeat, output, settings, starts_ns)
        for one in chosen or scenarios or []
    ]
    outcomes = _carry_out(subjects, both, most, jobs, resimulate, as_is, only_valid, json or quiet)
    first, second = both
    if chosen:
        return _of_matrix((first, second), chosen, outcomes, output, starts, json)
    return _of_scenarios(outcomes, starts, json)


def _cells(matrix: bool, quick: bool, random: int, seed: int, patterns: Sequence[str]) -> Sequence[About]:
    """The cells of the matrix, or the scenarios that are drawn at random; none if scenarios are named."""
    from dumbbell.agree.drawn import draw
    from dumbbell.agree.matrix import matrix as all_cells
    from dumbbell.agree.matrix import quick as quick_cells
    from dumbbell.agree.matrix import select

    if random:
        return select(draw(seed, random), patterns)
    return select(quick_cells() if quick else all_cells(), patterns) if matrix else []


def _engines(named: str, kernel: str | None) -> tuple[dict[str, Engine], dict[str, list[str]]]:
    """The engines of `--engines` by their words there, and what scenarios are told anew for each: the kernel of those
    that run any. Beside one in virtual time, the simulator's hosts are like its own: they take no time.

    Raises `InputError` unless there are two, one of which takes `kernel`.
    """
    from dumbbell.engines.registry import engine
    from dumbbell.errors import InputError
    from dumbbell.pipeline.planned import kernel_override

    found: dict[str, Engine] = {}
    settings: dict[str, list[str]] = {}
    for word in named.split(","):
        name, at, own = word.partition("@")
        found[word] = engine(name)
        any_kernel = found[word].capabilities.any_kernel
        if at and not (own and any_kernel):
            why = f"{name} runs no kernel of its own" if own else "the kernel's name is missing"
            raise InputError(f"--engines {named}: {word}", why, "--engines virtual@6.1,virtual@6.12")
        if any_kernel and (chosen := own or kernel):
            settings[word] = kernel_override(chosen)
    if len(found) != 2 or named.count(",") != 1:
        raise InputError(f"--engines {named}", "two different engines can be compared", "--engines virtual,simulate")
    if kernel is not None and not any(one.capabilities.any_kernel for one in found.values()):
        why = f"neither of {' and '.join(found)} runs any kernel"
        raise InputError(f"--kernel {kernel}", why, "--engines virtual,simulate")
    if any(one.capabilities.any_kernel for one in found.values()):
        simulators = (word for word, one in found.items() if one.capabilities.models_tcp)
        settings |= {word: ["simulate.hosts=virtual"] for word in simulators}
    return found, settings


def _refuse(
    scenarios: Sequence[str], overrides: Sequence[str], matrix: bool, random: int, quick: bool, of_cells: bool
) -> None:
    from dumbbell.errors import InputError

    if matrix and random:
        raise InputError("--matrix and --random are two sets of scenarios", "give one or the other")
    asked = "--matrix" if matrix else "--random" if random else ""
    if asked and scenarios:
        raise InputError(f"{asked} takes no scenario, and {scenarios[0]} is one", "give one or the other")
    if asked and overrides:
        why = "its cells are fixed, so that tables can be compared"
        raise InputError(f"{asked} takes no --set {overrides[0]}", why, "write a scenario of your own")
    if (not asked and of_cells) or (quick and not matrix):
        raise InputError("--quick, --cells and --list apply to the bundled cells", hint="add --matrix")
    if not asked and not scenarios:
        raise InputError("nothing to compare", hint="name a scenario, or write dumbbell agree --matrix --quick")


def _carry_out(
    subjects: Sequence[Subject],
    engines: Mapping[str, Engine],
    most: int,
    jobs: int,
    resimulate: bool,
    as_is: bool,
    only_valid: bool,
    quiet: bool,
) -> list[Outcome]:
    from dumbbell.agree.study import carry_out_both, check, until_decided
    from dumbbell.cli.batch import Teller

    if not as_is:
        check(subjects, engines)
    teller = Teller(quiet)

    def carry_out(some: Sequence[Subject]) -> list[Outcome]:
        return carry_out_both(some, engines, jobs, teller, resimulate, as_is, only_valid)

    return until_decided(subjects, most, carry_out)


def _of_scenarios(outcomes: Sequence[Outcome], starts: str | None, json: bool) -> int:
    from dumbbell.agree.page import write_files
    from dumbbell.agree.table import figures_table
    from dumbbell.agree.targets import Status, judge, overall
    from dumbbell.cli.output import without_advice_of_matplotlib
    from dumbbell.cli.tables import print_table
    from dumbbell.errors import RunInvalid

    without_advice_of_matplotlib()
    told, statuses = [], []
    for outcome in outcomes:
        judged = judge(outcome.comparison)
        statuses.append(overall(judged))
        files = [str(path) for path in write_files(outcome)]
        if json:
            targets = [vars(one) | {"status": one.status.value} for one in judged]
            quantities = figures_table(outcome.comparison).to_dicts()
            told.append(
                {"name": outcome.subject.name, "engines": outcome.comparison.engines, "starts": starts}
                | {"agreement": statuses[-1].value, "targets": targets}
                | {"quantities": quantities, "refused": outcome.refused, "files": files}
            )
        else:
            print_table(_quantities(outcome))
            print_table(_targets(outcome))
            print(f"{outcome.subject.name}: {statuses[-1]}")
            print("\n".join([*outcome.refused, files[0]]))
    if json:
        from json import dumps

        print(dumps(told, indent=2))
    if any(not outcome.pairs for outcome in outcomes):
        return RunInvalid.exit_code
    return 0 if all(status is Status.INSIDE for status in statuses) else 1


def _of_matrix(
    engines: Engines,
    cells: Sequence[About],
    outcomes: Sequence[Outcome],
    output: Path,
    starts: str | None,
    json: bool,
) -> int:
    from dumbbell.agree import markdown
    from dumbbell.agree.page import STEM, write_files
    from dumbbell.agree.table import table, write
    from dumbbell.agree.targets import Status, judge, overall
    from dumbbell.cli.output import without_advice_of_matplotlib
    from dumbbell.cli.tables import print_table
    from dumbbell.errors import RunInvalid
    from dumbbell.report import write_file

    without_advice_of_matplotlib()
    measured = [outcome for outcome in outcomes if outcome.pairs]
    for outcome in measured:
        outside = overall(judge(outcome.comparison)) is Status.OUTSIDE
        write_files(outcome, ("html", "svg") if outside else ())
    found = table({cell.name: cell for cell in cells}, measured, engines)
    files = write(found, output, STEM)
    page = output / f"{STEM}.md"
    write_file(page, markdown.markdown(found, engines, starts).encode())
    refused = [f"{outcome.subject.name}: {one}" for outcome in outcomes for one in outcome.refused]
    rows, within = found.to_dicts(), markdown.within_targets(found)
    if json:
        from json import dumps

        told = {"engines": engines, "starts": starts, "within_targets": within, "cells": rows, "refused": refused}
        print(dumps(told | {"files": [str(path) for path in [*files, page]]}, indent=2))
    else:
        print_table(_not_inside(rows, engines))
        print("\n".join([*refused, *markdown.summary(rows), *map(str, [*files, page])]))
    if any(outcome.refused and not outcome.pairs for outcome in outcomes):
        return RunInvalid.exit_code
    return 0 if within else 1


def _quantities(outcome: Outcome) -> Any:
    from dumbbell.agree import shown
    from dumbbell.report import words
    from dumbbell.table import Table

    title = f"{outcome.subject.name}, {words.count(outcome.comparison.repetitions, 'repetition')}"
    return Table(title, shown.columns(outcome.comparison), shown.quantities(outcome.comparison))


def _targets(outcome: Outcome) -> Any:
    from dumbbell.agree.targets import judge
    from dumbbell.table import Table

    rows = [[one.target, one.status.value, one.measured, one.allowed] for one in judge(outcome.comparison)]
    return Table("Targets", ["target", "", "measured", "allowed"], rows)


def _not_inside(rows: Sequence[dict[str, object]], engines: Engines) -> Any:
    from dumbbell.agree.markdown import cells_of, head
    from dumbbell.table import Table

    shown = [cells_of(row, engines) for row in rows if row["agreement"] != "inside"]
    return Table(f"Cells that are not inside: {len(shown)} of {len(rows)}", head(engines), shown)
