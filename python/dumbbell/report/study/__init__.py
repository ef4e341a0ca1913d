"""The report of a study: an HTML page, figures for a paper, or tables, all made of the same averages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from dumbbell.counts import listed
from dumbbell.errors import InputError
from dumbbell.statistics.frames import Frames
from dumbbell.statistics.intervals import CONFIDENCE, CONFIDENCES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dumbbell.statistics.cells import Method

METHODS: Final[tuple[Method, ...]] = ("t", "bootstrap")
Format = Literal["html", "png", "svg", "pdf", "csv", "tex"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)


def confidence(percent: int) -> float:
    """The confidence level as a fraction, from percent. Raises `InputError` for a level that reports don't offer."""
    offered = {round(100 * one): one for one in CONFIDENCES}
    if percent not in offered:
        raise InputError(f"the confidence must be {listed(map(str, offered), 'or')} %", f"given: {percent} %")
    return offered[percent]


def method(name: str) -> Method:
    """Raises `InputError` if there is none of this name."""
    for known in METHODS:
        if known == name:
            return known
    raise InputError(f"no interval {name!r}", f"there are {', '.join(METHODS)}")


def write(
    study: Frames,
    format: Format | str,
    output: Path | None = None,
    confidence: float = CONFIDENCE,
    method: Method = "t",
    reference: str | None = None,
) -> list[Path]:
    """Write the report of `study` in one of `FORMATS` and return the files that were written.

    Args:
        study: what was run; one that is not finished has the runs there are.
        format: `html`; figures (`png`, `svg`, `pdf`) or tables (`csv`, `tex`), a file per metric.
        output: a file, or a folder for all but `html`. By default `report.html` or `report-FORMAT` in the study's
            directory.
        confidence: of intervals.
        method: how intervals are made.
        reference: the column of tables with which the others are compared; the first if not given.

    Raises:
        InputError: there is no such format or column, or `output` cannot be written, or no run can be used.
    """
    if format not in FORMATS:
        raise InputError(f"no report format {format!r}", f"the formats are {', '.join(FORMATS)}")
    from dumbbell.report import write_file
    from dumbbell.report.study.build import build
    from dumbbell.report.study.grid import check_reference

    plots = build(study, confidence, method, reference)
    check_reference(plots)
    if format == "html":
        from dumbbell.report.study.page import page

        return [write_file(output or study.directory / "report.html", page(plots).encode())]
    folder = output or study.directory / f"report-{format}"
    if format == "csv":
        from dumbbell.report.study.export import csv

        files = csv(plots)
    elif format == "tex":
        from dumbbell.report.study.latex import latex

        files = latex(plots)
    else:
        from dumbbell.report.study.figures import figures

        files = figures(plots, format)
    return [write_file(folder / name, content) for name, content in files.items()]


def figure(study: Frames, metric: str = "goodput") -> Figure:
    """The averages of a metric in all cells, as a matplotlib figure, which a notebook shows.

    Raises:
        InputError: no metric of this name has values, or no run can be used.
    """
    from dumbbell.report.study.build import build
    from dumbbell.report.study.figures import figure as draw

    plots = build(study, CONFIDENCE, "t")
    for panel in plots.panels:
        if panel.metric.name == metric:
            return draw(plots, panel)
    known = dict.fromkeys(panel.metric.name for panel in plots.panels)
    raise InputError(f"no values of {metric!r}", f"the metrics with values are {', '.join(known)}")
