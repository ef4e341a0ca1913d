"""The report of an analysed capture: an HTML page, figures, or the data behind them, all drawn from the same series."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dumbbell.captures import Capture
    from dumbbell.captures.detail import Part


def write_html(
    capture: Capture,
    path: str | os.PathLike[str],
    parts: Sequence[Part] | None = None,
    only: Sequence[int] | None = None,
    span_ns: tuple[int, int] | None = None,
) -> Path:
    """Write the report of `capture` as one HTML file that needs no other file and no network; return `path`.

    Args:
        capture: what was analysed.
        path: the file.
        parts: whose packets are drawn one by one; where it matters by default.
        only: numbers of the connections that are drawn; the largest by default.
        span_ns: the part of the time axis that is shown first; all of it by default.
    """
    from dumbbell.report import write_file
    from dumbbell.report.captured.page import page

    return write_file(Path(path), page(capture, parts, only, span_ns).encode())


def figure(capture: Capture) -> Figure:
    """All plots of `capture` above one time axis, 7 inches wide, ready for a paper."""
    from dumbbell.report.captured.series import build
    from dumbbell.report.render.figures import figure as draw

    return draw(build(capture))


def write(capture: Capture, format: str, output: Path | None = None) -> list[Path]:
    """Write the report of `capture` in one of `dumbbell.report.FORMATS`; return the files that were written.

    Raises:
        InputError: there is no such format, or `output` cannot be written.
    """
    from dumbbell.report import check_format, place_of, write_file

    check_format(format)
    place, within = place_of(capture.directory, format, output), None if output else capture.directory
    if format == "html":
        from dumbbell.report.captured.page import page

        return [write_file(place, page(capture).encode(), within)]
    if format == "csv":
        from dumbbell.report.captured.series import build
        from dumbbell.report.render.export import tables_of

        return [write_file(place / name, content, within) for name, content in tables_of(build(capture)).items()]
    from dumbbell.report.render.figures import render

    return [write_file(place, render(figure(capture), format), within)]
