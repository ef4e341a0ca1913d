"""`dumbbell report`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

import typer

from dumbbell.cli.options import Confidence
from dumbbell.errors import DumbbellError, InputError
from dumbbell.report import FORMATS, ONLY_OF_STUDIES
from dumbbell.report.overlay import DEFAULT, PLOTS
from dumbbell.scenario.study import Plot, PlotKind


def _described(metric: str | None, kind: str | None, across: str | None, curves: str | None) -> Plot | None:
    """The plot that the options describe. Raises `InputError` if there is no such kind."""
    if (metric, kind, across, curves) == (None, None, None, None):
        return None
    if kind is not None and kind not in get_args(PlotKind):
        raise InputError(f"no kind of plot {kind!r}", f"there are {', '.join(get_args(PlotKind))}")
    return Plot.model_validate({"metric": metric or "", "kind": kind or "auto", "across": across, "curves": curves})


def _of_reproduction(directory: Path, format: str, output: Path | None) -> list[Path]:
    """The report to hand in, of the parts that were run."""
    from dumbbell.cli.output import say
    from dumbbell.cli.reproduce import WRITING, of_folder
    from dumbbell.published import hand_in, running
    from dumbbell.published.registry import reproduction
    from dumbbell.published.stranger import is_folder
    from dumbbell.scenario.file.started import only

    if format == "html":
        return [directory / "report.html"]
    ordered = running.kept(directory)
    name = ordered.study
    study, agreed = of_folder(name, False) if is_folder(name) else (reproduction(name), None)
    where, within = output or directory / f"{hand_in.STEM}.{format}", None if output else directory
    say(WRITING, sys.stderr)
    with only(agreed):
        done = running.done(directory, study)
        texts = [*ordered.lacking, *ordered.shortened(study, done)]
        return hand_in.write(study, done, ordered.commands(study, done), texts, format, where, within)


def _overlay(
    directories: list[Path],
    format: str,
    output: Path | None,
    plots: str | None,
    curves: str | None,
    bands: bool,
    columns: str | None,
) -> Path:
    """One figure of runs, and of the first runs of studies' cells: those without records are simulated again."""
    from dumbbell.cli.studies import is_study, open_study
    from dumbbell.records import Run
    from dumbbell.report import overlay
    from dumbbell.report.study.build import axes_of
    from dumbbell.studies.single import recorded_runs

    default = overlay.OF_COLUMNS if columns else overlay.DEFAULT
    names, axes = overlay.plots_of(plots or ",".join(default)), None
    runs: list[Run] = []
    for directory in directories:
        if not is_study(directory):
            runs.append(Run(directory))
            continue
        study = open_study(directory)
        found = recorded_runs(study, overlay.MOST_REPEATED if bands else overlay.MOST_RUNS, bands)
        runs += [run for _, run in found]
        if len(directories) == 1:
            # A study knows the names of its cases, and the order of its values.
            axes = [replace(axis, cells=tuple(axis.cells[cell] for cell, _ in found)) for axis in axes_of(study)]
    return overlay.write(runs, "png" if format == "html" else format, output, names, curves, bands, axes, columns)


def _print_seconds(directories: list[Path], output: Path | None) -> None:
    """Print the flows of runs second by second, or write them to a new file."""
    from dumbbell import outputs
    from dumbbell.cli.studies import is_study
    from dumbbell.records import Run
    from dumbbell.report import iperf
    from dumbbell.table import printable

    for one in filter(is_study, directories):
        hint = f"name a run of it: {one / 'runs'}/..."
        raise InputError("--format iperf applies to runs", f"{one} is a study", hint)
    text = printable("\n".join(iperf.text(Run(one, incomplete=True)) for one in directories))
    if output is None:
        print(text, end="")
        return
    outputs.write_new(output, text)
    print(output)


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Directories of runs, studies, reproductions or analysed captures, e.g. runs/bbr-vs-cubic-*, or a "
            "name: of the latest study below ./studies, or else of the latest run below ./runs.",
            show_default=False,
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"The format: {', '.join(FORMATS)}; for studies also {ONLY_OF_STUDIES}; for runs also iperf, which "
            "prints each flow second by second, as iperf3 does; of a reproduction html, or pdf, tex or md to hand in.",
        ),
    ] = "html",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The file, or the folder for several files or runs. Default: in each run's directory.",
            show_default=False,
        ),
    ] = None,
    confidence: Confidence = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="METHOD",
            help="Method of a study's intervals: t (Student's) or bootstrap. Default: t.",
            show_default=False,
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="VALUE",
            help="The reference of a study's tables: a value of a varied key, or an algorithm. Default: the first "
            "value of the second key.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="NAME,...",
            help="Plot only these metrics of a study, such as goodput,jain_index.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help=f"The kind of a study's plots: {', '.join(get_args(PlotKind))}. Default: auto.",
            show_default=False,
        ),
    ] = None,
    across: Annotated[
        str | None,
        typer.Option(
            "--across",
            metavar="KEY",
            help="The varied key on the horizontal axis, or its last part. Default: the numbers with most values.",
            show_default=False,
        ),
    ] = None,
    curves: Annotated[
        str | None,
        typer.Option(
            "--curves",
            metavar="KEY",
            help="The varied key whose values are curves, or none. Default: the algorithm.",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        bool,
        typer.Option(
            "--overlay",
            help="Draw runs in one figure; of a study, the first run of each cell.",
        ),
    ] = False,
    plots: Annotated[
        str | None,
        typer.Option(
            "--plots",
            metavar="PLOT,...",
            help=f"The plots of an overlay: {', '.join(PLOTS)}. Default: {','.join(DEFAULT)}.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="KEY",
            help="The key whose values are the columns of an overlay; the rows are sending rate, cwnd, RTT, queue and "
            "bytes in flight.",
            show_default=False,
        ),
    ] = None,
    bands: Annotated[
        bool,
        typer.Option(
            "--bands",
            help="Draw runs of an overlay that differ only in seeds as a mean with its interval; of a study, all runs.",
        ),
    ] = False,
    open: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser, or in the program for such files.")
    ] = False,
) -> int:
    """Write the report of each run, study or analysed capture: a page with plots, figures, or the data behind them.

    The formats pdf, tex and md of a reproduction are a report to hand in: question, set-up, figures, numbers with
    intervals, findings, limits, and how to repeat it.

    A failed run has a report, too: it says so, and which tables are missing. The command prints the paths of the
    written files. It names a run that it cannot read, and reports on the others.
    """
    from dumbbell.captures import Capture, is_capture
    from dumbbell.cli import complain
    from dumbbell.cli.output import without_advice_of_matplotlib
    from dumbbell.cli.studies import find, is_study, open_study
    from dumbbell.published.running import is_reproduction
    from dumbbell.records import Run
    from dumbbell.report import captured, study, write

    without_advice_of_matplotlib()
    directories = [find(run) for run in runs]
    for option, is_given in (("--plots", plots is not None), ("--columns", columns is not None), ("--bands", bands)):
        if is_given and not over:
            raise InputError(f"{option} without --overlay", "it is for the plots of an overlay", "add --overlay")
    if over:
        written = [_overlay(directories, format, output, plots, curves, bands, columns)]
        print(written[0])
        if open:
            typer.launch(str(written[0]))
        return 0
    if format == "iperf":
        _print_seconds(directories, output)
        return 0
    several = len(directories) > 1
    if several and output is not None and not output.is_dir():
        raise InputError(
            f"--output {output} is not a directory",
            f"the reports of {len(runs)} runs go into one",
            f"create it first (mkdir {output}), or omit --output: each report then goes to its run's directory",
        )
    plot = {"--metric": metric, "--kind": kind, "--across": across, "--curves": curves}
    options = {"--confidence": confidence, "--interval": interval, "--reference": reference, **plot}
    for option, value in options.items():
        if value is not None and not any(map(is_study, directories)):
            raise InputError(f"{option} applies to studies", f"{runs[0]} is a run", f"omit {option}")
    method, share = study.method(interval or "t"), study.confidence(95 if confidence is None else confidence)
    described = _described(metric, kind, across, curves)
    code = 0
    for directory in directories:
        of_study = is_study(directory)
        place = output
        if several and output is not None:
            is_file = format == "html" or (not of_study and format != "csv")
            place = output / (f"{directory.name}.{format}" if is_file else directory.name)
        try:
            if is_reproduction(directory):
                written = _of_reproduction(directory, format, place)
            elif is_capture(directory):
                written = captured.write(Capture(directory), format, place)
            elif of_study:
                one = open_study(directory)
                written = study.write(one, format, place, share, method, reference, described, one.over_time)
            else:
                written = write(Run(directory, incomplete=True), format, place)
        except DumbbellError as error:
            if not several:
                raise
            complain(error.problems)
            code = code or error.exit_code
            continue
        for path in written:
            print(path)
        if open:
            typer.launch(str(written[0]))
    return code
