"""`dumbbell agree`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli.options import Json, Kernel, Set
from dumbbell.cli.times import time_of

if TYPE_CHECKING:
    from dumbbell.agree.study import Outcome

_ROOT = Path("runs/agree")


def command(
    scenarios: Annotated[
        list[str],
        typer.Argument(metavar="SCENARIO...", help="TOML files, or names of bundled scenarios.", show_default=False),
    ],
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
    repeat: Annotated[int, typer.Option("--repeat", min=1, metavar="N", help="Runs under each engine.")] = 3,
    starts: Annotated[
        str | None,
        typer.Option(
            "--starts",
            metavar="TIME",
            help="Delay each flow's start by a random time up to TIME, drawn by the seed, the same under each engine.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--most", min=0, metavar="N", help="Repeat scenarios that are undecided, up to N runs."),
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Runs at a time.")] = 1,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where runs and tables are kept.")
    ] = _ROOT,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Run scenarios under two engines, and say how well they agree: the kernel and the simulator, or any other two.

    Each scenario is run N times under either engine, with N seeds. Runs on disk are not repeated, except invalid
    emulated runs.

    Exit code: 0 if the targets are met, 1 if not, 3 if a scenario has no valid runs, 2 for bad input, 130 if
    interrupted.
    """
    from dumbbell.agree.engines import pair
    from dumbbell.agree.study import Subject, check, run_both, until_decided
    from dumbbell.cli.batch import Teller
    from dumbbell.studies.directory import check_default

    check_default(output, _ROOT, "--output")
    both, settings = pair(engines, kernel)
    starts_ns = 0 if starts is None else time_of("--starts", starts)
    subjects = [Subject.of(one, overrides or [], repeat, output, settings, starts_ns) for one in scenarios]
    check(subjects, both)
    teller = Teller(json or quiet)
    outcomes = until_decided(subjects, most, lambda some: run_both(some, both, jobs, teller))
    return _tell(outcomes, starts, json)


def _tell(outcomes: Sequence[Outcome], starts: str | None, json: bool) -> int:
    from dumbbell.agree.page import write_files
    from dumbbell.agree.table import figures_table
    from dumbbell.agree.targets import Status, judge, overall
    from dumbbell.cli.output import say, without_advice_of_matplotlib
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
            say("\n".join([*outcome.refused, files[0]]))
    if json:
        from json import dumps

        print(dumps(told, indent=2))
    if any(not outcome.pairs for outcome in outcomes):
        return RunInvalid.exit_code
    return 0 if all(status is Status.INSIDE for status in statuses) else 1


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
