"""`dumbbell report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.report import FORMATS


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Directories of runs, e.g. runs/bbr-vs-cubic-*, or a scenario's name for its latest run below ./runs.",
            show_default=False,
        ),
    ],
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")] = "html",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PATH",
            help="The file, or the folder for csv; a folder for several runs. Default: in each run's directory.",
            show_default=False,
        ),
    ] = None,
    open: Annotated[
        bool, typer.Option("--open", help="Show it in the browser, or in whatever opens such files.")
    ] = False,
) -> None:
    """Write the report of each run: a page with interactive plots, the same plots as figures, or the data behind them.

    A run that failed can be reported too: the report says so, and which tables are missing. Prints what was written.
    """
    from dumbbell.errors import InputError
    from dumbbell.records import Run
    from dumbbell.records.directory import find
    from dumbbell.report import write

    directories = [find(run) for run in runs]
    several = len(directories) > 1
    if several and output is not None and not output.is_dir():
        raise InputError(
            f"--output {output} is no directory",
            f"the reports of {len(runs)} runs go into one",
            f"make it first (mkdir {output}), or leave --output out: each report then goes to its run's directory",
        )
    for directory in directories:
        run = Run(directory, incomplete=True)
        place = output
        if several and output is not None:
            place = output / (directory.name if format == "csv" else f"{directory.name}.{format}")
        written = write(run, format, place)
        for path in written:
            print(path)
        if open:
            typer.launch(str(written[0]))
