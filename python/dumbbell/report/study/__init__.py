"""The report of a study: an HTML page, figures for a paper, or tables, all made of the same averages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from dumbbell.counts import listed
from dumbbell.errors import InputError
from dumbbell.scenario.study import Plot, Report
from dumbbell.statistics.frames import Frames
from dumbbell.statistics.intervals import CONFIDENCE, CONFIDENCES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dumbbell.report.study.model import StudyPlots
    from dumbbell.statistics.cells import Method

METHODS: Final[tuple[Method, ...]] = ("t", "bootstrap")
Format = Literal["html", "png", "svg", "pdf", "csv", "tex"]
OVER_TIME: Final = "over-time"
"""Name of the file of runs over time."""
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
    described: Plot | None = None,
    over_time: Callable[[str], bytes | None] | None = None,
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
        over_time: draws runs over time in a format, if the study's file asks for that.
        described: the plot that is wanted, with several metrics between commas one of each. By default the plots of
            the study's file and those of all metrics.

    Raises:
        InputError: there is no such format, column or plot, or `output` cannot be written, or no run can be used.
    """
    if format not in FORMATS:
        raise InputError(f"no report format {format!r}", f"the formats are {', '.join(FORMATS)}")
    from dumbbell.report import write_file
    from dumbbell.report.study.arrangement import EVERY
    from dumbbell.report.study.build import build
    from dumbbell.report.study.grid import check_reference

    within = None if output else study.directory
    is_one = described is not None and (described.metric != EVERY or described.kind != "auto")
    wanted = _each(described) if described is not None and is_one else plots_of(study)
    if format == "html":
        from dumbbell.report.study.page import page

        layout = None if described is None else described.model_copy(update={"metric": EVERY, "kind": "auto"})
        plots = build(study, confidence, method, reference, layout)
        check_reference(plots)
        pictures = [build(study, confidence, method, reference, one) for one in wanted]
        figure = over_time("svg") if over_time and described is None else None
        return [write_file(output or study.directory / "report.html", page(plots, pictures, figure).encode(), within)]
    every = [] if is_one else [described or Plot(metric=EVERY)]
    folder, files = output or study.directory / f"report-{format}", dict[str, bytes]()
    for one in (*every, *wanted):
        plots = build(study, confidence, method, reference, one)
        check_reference(plots)
        files |= _files(plots, format)
    if over_time and described is None and format != "tex" and (made := over_time(format)) is not None:
        files |= {f"{OVER_TIME}.{format}": made}
    if output is not None and output.suffix == f".{format}" and not output.is_dir():
        if len(files) > 1:
            raise InputError(
                f"--output {output} is one file", f"the report has {len(files)}: {', '.join(files)}", "name a folder"
            )
        (content,) = files.values()
        return [write_file(output, content)]
    return [write_file(folder / name, content, within) for name, content in files.items()]


def _each(described: Plot) -> list[Plot]:
    """The same plot of each metric that it names, between commas."""
    names = [name.strip() for name in described.metric.split(",") if name.strip()]
    return [described.model_copy(update={"metric": name}) for name in dict.fromkeys(names)] or [described]


def _files(plots: StudyPlots, format: str) -> dict[str, bytes]:
    """File name -> content."""
    if format == "csv":
        from dumbbell.report.study.export import csv

        return csv(plots)
    if format == "tex":
        from dumbbell.report.study.latex import latex

        return latex(plots)
    from dumbbell.report.study.figures import figures

    return figures(plots, format)


def plots_of(study: Frames) -> list[Plot]:
    """The plots that the study's file describes. Raises `InputError` if one was changed to what is none."""
    return described_in(study).plots


def described_in(study: Frames) -> Report:
    """`[report]` of the study's file. Raises `InputError` if it was changed to what is none."""
    from dumbbell import inputs
    from dumbbell.scenario.file.loading import LARGEST
    from dumbbell.scenario.file.toml import parse

    path = study.directory / "scenario.toml"
    try:
        described = parse(inputs.read_own(path.parent, path.name, LARGEST)).get("report", {}) if path.exists() else {}
        return Report.model_validate(described)
    except (OSError, ValueError) as error:  # of TOML, of UTF-8 and of pydantic
        raise InputError(f"{path}: cannot read [report]", str(error), "docs/reference/scenario.md") from error


def figure(study: Frames, metric: str = "goodput", **described: Any) -> Figure:
    """A metric in all cells, as a matplotlib figure, which a notebook shows.

    Args:
        study: what was run.
        metric: its name.
        described: keys of `[[report.plots]]`, such as `kind="boxes"`, `across="buffer"`, `curves="algorithm"`.

    Raises:
        InputError: no metric of this name has values, or no run can be used, or the study lacks what is described.
    """
    from pydantic import ValidationError

    from dumbbell.report.study.build import build
    from dumbbell.report.study.figures import figure as draw
    from dumbbell.report.study.kinds import shown

    try:
        plot = Plot.model_validate({"metric": metric, **described})
    except ValidationError as error:
        raise InputError("no such plot", str(error), "docs/reference/scenario.md, report.plots") from error
    plots = build(study, CONFIDENCE, "t", None, plot)
    return draw(plots, shown(plots)[0])
