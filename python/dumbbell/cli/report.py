"""`dumbbell report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.report import FORMATS


def command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR", help="A run's directory, e.g. runs/bbr-vs-cubic-1f2e3d4c.", show_default=False
        ),
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
    """Write the report of a run: a page with interactive plots, the same plots as figures, or the data behind them.

    A run that failed can be reported too: the report says so, and which tables are missing. Prints what was written.
    """
    from dumbbell.records import Run
    from dumbbell.report import write

    written = write(Run(run, incomplete=True), format, output)
    for path in written:
        print(path)
    if open:
        typer.launch(str(written[0]))
