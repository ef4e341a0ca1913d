"""Several runs over each other or side by side: the same quantities over time, with labels that say what differs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from dumbbell.counts import count
from dumbbell.errors import InputError
from dumbbell.records import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dumbbell.report.study.axes import Axis

Format = Literal["png", "svg", "pdf", "csv"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
PLOTS: Final = {
    "goodput": "Goodput",
    "throughput": "Sending rate",
    "delivery-rate": "Delivery rate",
    "cwnd": "Congestion window",
    "inflight": "Bytes in flight",
    "rtt": "RTT",
    "queue": "Queue",
    "queueing-delay": "Queueing delay",
}
"""Name of a plot -> title of the panel of a run's report that it is made of."""
DEFAULT: Final = ("goodput", "cwnd", "rtt", "queue")
OF_COLUMNS: Final = ("throughput", "cwnd", "rtt", "queue", "inflight")
"""The plots of a figure with a column for each value of a key."""
MOST_RUNS: Final = 36
MOST_REPEATED: Final = 360
"""Runs of which those that differ only in their seeds are one curve."""


def plots_of(text: str) -> tuple[str, ...]:
    """The plots of a list between commas. Raises `InputError`."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in PLOTS:
            raise InputError(f"no plot {name!r}", f"there are {', '.join(PLOTS)}", f"write --plots {','.join(DEFAULT)}")
    return names or DEFAULT


def overlay(
    runs: Sequence[Run],
    plots: Sequence[str] = DEFAULT,
    curves: str | None = None,
    bands: bool = False,
    axes: Sequence[Axis] | None = None,
    columns: str | None = None,
) -> Figure:
    """Plots of several runs as one matplotlib figure.

    Args:
        runs: at least two, and at most 36; with `bands` 360.
        plots: one below the other: see `PLOTS`.
        curves: the key whose values lie over each other, `algorithm` by default; runs that differ in other keys stand
            side by side. `none`: each run stands by itself.
        columns: the key of which each value has a column, in which runs that differ in other keys lie over each other.
        bands: draw runs that differ only in their seeds as their mean, with its 95 % interval (Student's t) as a band.
        axes: the keys in which runs differ, with the value of each run; by default those of their scenarios.

    Raises:
        InputError: there is no such plot or key, too many or too few runs, or none has records of these plots.
    """
    from dumbbell.report.overlay.figure import figure

    _check_count(runs, bands)
    return figure(runs, plots_of(",".join(plots)), curves, bands, axes, columns)


def _check_count(runs: Sequence[Run], bands: bool) -> None:
    most = MOST_REPEATED if bands else MOST_RUNS
    if not 2 <= len(runs) <= most:
        hint = "name some of them, such as runs/NAME-*"
        raise InputError(f"{count(len(runs), 'run')} to lay over each other", f"expected 2 to {most}", hint)


def content(
    runs: Sequence[Run],
    format: str,
    plots: Sequence[str] = DEFAULT,
    curves: str | None = None,
    bands: bool = False,
    axes: Sequence[Axis] | None = None,
    columns: str | None = None,
) -> bytes:
    """An overlay in one of `FORMATS`. Raises `InputError` as `overlay` does, and if there is no such format."""
    from dumbbell.report.overlay.table import table
    from dumbbell.report.render.figures import render

    if format not in FORMATS:
        raise InputError(f"no overlay as {format}", f"the formats are {', '.join(FORMATS)}", "write --format pdf")
    if format == "csv":
        _check_count(runs, bands)
        return table(runs, plots_of(",".join(plots)), bands, axes).write_csv().encode()
    return render(overlay(runs, plots, curves, bands, axes, columns), format)


def write(
    runs: Sequence[Run],
    format: str,
    output: Path | None,
    plots: Sequence[str] = DEFAULT,
    curves: str | None = None,
    bands: bool = False,
    axes: Sequence[Axis] | None = None,
    columns: str | None = None,
) -> Path:
    """Write an overlay in one of `FORMATS`, by default as `overlay.FORMAT` in the current directory; return its path.

    Raises `InputError` as `overlay` does, and if there is no such format or `output` cannot be written.
    """
    from dumbbell.report import write_file

    return write_file(output or Path(f"overlay.{format}"), content(runs, format, plots, curves, bands, axes, columns))
