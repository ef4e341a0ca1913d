"""`dumbbell report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.report import FORMATS


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN_DIR...", help="Directories of runs, e.g. runs/bbr-vs-cubic-*.", show_default=False),
    ],
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")] = "html",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="PATH", help="The file, or the folder for csv. Default: in RUN_DIR.", show_default=False
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
    from dumbbell.report import write

    if output is not None and len(runs) > 1:
        raise InputError(
            "--output names one place for several runs",
            f"{len(runs)} run directories were given",
            "leave --output out: each report is written into its run's directory",
        )
    for run in runs:
        written = write(Run(run, incomplete=True), format, output)
        for path in written:
            print(path)
        if open:
            typer.launch(str(written[0]))
