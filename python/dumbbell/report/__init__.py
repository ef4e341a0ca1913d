"""The report of one run: an HTML page, figures, or the data behind them, all drawn from the same series.

`study` makes that of many.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from dumbbell import below, outputs
from dumbbell.errors import InputError, unwritable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dumbbell.records import Run

Format = Literal["html", "png", "svg", "pdf", "csv"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
ONLY_OF_STUDIES: Final = "tex"


def write_html(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the report of `run` as one HTML file that needs no other file and no network; return `path`."""
    from dumbbell.report.render.html import page

    return write_file(Path(path), page(run).encode())


def figure(run: Run) -> Figure:
    """All plots of `run` above one time axis, 7 inches wide, ready for a paper."""
    from dumbbell.report.render.figures import figure as draw
    from dumbbell.report.series import build

    return draw(build(run))


def write(run: Run, format: Format | str, output: Path | None = None) -> list[Path]:
    """Write the report of `run` in one of `FORMATS` and return the files that were written.

    Args:
        run: the run; one that failed may lack tables, and the report says which.
        format: `html`, a figure (`png`, `svg`, `pdf`), or `csv`, one table per plot.
        output: a file, or for `csv` a folder. The default is `report.FORMAT` or `report-csv` in the run's directory.

    Raises:
        InputError: there is no such format, or `output` cannot be written.
    """
    check_format(format)
    place, within = place_of(run.directory, format, output), None if output else run.directory
    if format == "html":
        from dumbbell.report.render.html import page

        return [write_file(place, page(run).encode(), within)]
    if format == "csv":
        from dumbbell.report.render.export import tables

        return [write_file(place / name, content, within) for name, content in tables(run).items()]
    from dumbbell.report.render.figures import render

    return [write_file(place, render(figure(run), format), within)]


def check_format(format: str) -> None:
    """Raises `InputError` if there is no such format."""
    if format not in FORMATS:
        raise InputError(f"no report format {format!r}", f"the formats are {', '.join(FORMATS)}")


def place_of(directory: Path, format: str, output: Path | None) -> Path:
    """Where a report goes: `output`, or by default `report.FORMAT` or the folder `report-csv` in `directory`."""
    return output or directory / ("report-csv" if format == "csv" else f"report.{format}")


def write_file(path: Path, content: bytes, within: Path | None = None) -> Path:
    """Write a file whole or not at all; return its path. Raises `InputError` if that can't be.

    Args:
        path: one that the user has named may be a device or a pipe, which is written to, and never replaced.
        content: of the file.
        within: the directory that is reported on, if `path` is in it without the user having named it. A stranger may
            have made that directory: no link leads out of it, and whatever has the file's name is replaced.
    """
    try:
        if within is None:
            outputs.make_folder(path.parent)
            outputs.write_named(path, content)
        else:
            outputs.make_folder(within)
            with below.confined(below.confining() or below.Below(within)):
                outputs.make_folder(path.parent)
                outputs.write(path, content)
    except OSError as error:
        raise unwritable(path, error) from error
    return path
