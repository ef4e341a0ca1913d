"""`dumbbell runs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.group import group
from dumbbell.cli.options import Json
from dumbbell.cli.output import say
from dumbbell.counts import count

if TYPE_CHECKING:
    from dumbbell.records.kept import Kept

app = group("runs", "List the runs on disk, show one, tag them, and remove those that nobody needs.")

Root = Annotated[Path, typer.Option("--in", metavar="DIR", help="The folder of runs.")]
Named = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Directories of runs, their names, or tags.", show_default=False)
]
RUNS = Path("runs")


@app.command("list")
def list_(
    root: Root = RUNS,
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="NAME", help="Only runs with this tag.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the runs, the latest first: verdict, name, when it began, what was overridden, tags, and size.

    A run whose manifest or summary is damaged is listed, with the reason and what to do.
    """
    from dumbbell.records.kept import kept

    _check_there(root)
    _print([one for one in kept(root) if tag is None or tag in one.tags], json)


@app.command()
def show(named: Named, root: Root = RUNS, json: Json = False) -> int:
    """Show runs again: the verdict with its reasons, and the tables that `dumbbell run` has printed.

    One that cannot be read is named, and the others are shown.
    """
    from json import dumps

    from dumbbell.cli import complain
    from dumbbell.cli.run import print_run
    from dumbbell.errors import DumbbellError
    from dumbbell.pipeline.results import Run
    from dumbbell.records.kept import find

    meant, told, code = find(root, named), [], 0
    for one in meant:
        try:
            run = Run(one.path)
            told.append({**run.summary, "run_dir": str(run.directory)})
        except DumbbellError as error:
            if len(meant) == 1:
                raise
            complain(error.problems)
            code = code or error.exit_code
            continue
        if not json:
            print_run(run, (run.directory / "report.html").exists())
    if json:
        print(dumps(told, indent=2))
    return code


@app.command()
def tag(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tag.", show_default=False)],
    named: Named,
    root: Root = RUNS,
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away.")] = False,
) -> None:
    """Give runs a tag, by which other commands find them."""
    from dumbbell.records import kept

    for one in kept.find(root, named):
        kept.tag(one.path, [name], remove)


@app.command()
def remove(named: Named, root: Root = RUNS) -> None:
    """Remove runs with all their records. Prints their paths."""
    from dumbbell.records import kept

    for one in kept.find(root, named):
        kept.remove(one)
        say(one.path)


@app.command()
def clean(
    root: Root = RUNS,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without it, only list them.")] = False,
    json: Json = False,
) -> None:
    """List what is left over, and remove it with --yes.

    Left over are runs that failed or were killed, and earlier runs of a plan that was run again. Tagged runs stay.
    """
    from dumbbell.records import kept

    _check_there(root)
    found = [one for one in kept.kept(root) if one.is_left_over and not one.tags]
    for one in found if yes else ():
        kept.remove(one)
    _print(found, json)
    if found and not yes and not json:
        print("dumbbell runs clean --yes removes them")


def _check_there(root: Path) -> None:
    """Raise `InputError` for a folder that was named and does not exist; the default one comes with the first run."""
    from dumbbell.errors import InputError

    if root != RUNS and not root.is_dir():
        raise InputError(f"--in {root}: no such folder", "", "name the folder that holds the runs, such as --in runs")


def _print(runs: Sequence[Kept], json: bool) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.table import Table

    if json:
        from json import dumps

        print(dumps([_as_json(one) for one in runs], indent=2))
        return
    rows = [
        [one.path.name, one.verdict, one.started_at[:19].replace("T", " "), _size(one.size), *_words(one)]
        for one in runs
    ]
    columns = ["run", "verdict", "started (UTC)", "size", "tags", "overrides"]
    if any(one.problem for one in runs):
        columns.append("problem")
        rows = [[*row, one.problem] for row, one in zip(rows, runs, strict=True)]
    total = _size(sum(one.size for one in runs))
    print_table(Table(f"{count(len(runs), 'run')}, {total}", columns, rows))


def _words(run: Kept) -> list[str]:
    return [", ".join(run.tags), ", ".join(run.overrides)]


def _as_json(run: Kept) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(run), "path": str(run.path)}


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
