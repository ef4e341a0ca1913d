"""The figure: a row for each plot, a column for each combination of what the curves don't show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from math import ceil
from typing import Any, Final

import matplotlib.style
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dumbbell.cc.names import title
from dumbbell.counts import listed
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.overlay.differences import differences
from dumbbell.report.overlay.repetitions import drawn
from dumbbell.report.overlay.traces import Quantity, Trace
from dumbbell.report.render.sheet import Sheet, are_apart
from dumbbell.report.study.arrangement import NONE, find
from dumbbell.report.study.axes import Axis
from dumbbell.report.study.colours import NEUTRAL, Colour, of_names
from dumbbell.report.study.drawing import style
from dumbbell.report.thin import means

_WIDTH_IN: Final = 7.0
_HEIGHT_IN: Final = 1.15
Behind = Callable[[Axes, int, Sequence[int]], Mapping[str, Any]]
"""A plot, the number of its row, and the indices of its runs -> names and signs."""
_ABREAST: Final = 5
_ABREAST_OF_MANY: Final = 4
POINTS: Final = 250
"""Points of a dense curve: its plot is some 2 inches wide."""
_MOST_ABOVE: Final = 1.5
"""A band may reach this many times as high as the curves; what is above is cut."""
_PREFIXES: Final = {"kbit/s", "Mbit/s", "Gbit/s", "bit/s", "B", "kB", "MB", "GB"}


def figure(
    runs: Sequence[Run],
    plots: Sequence[str],
    curves: str | None,
    bands: bool,
    axes: Sequence[Axis] | None = None,
    across: str | None = None,
    behind: Behind | None = None,
) -> Figure:
    """See `overlay`.

    Args:
        axes: the keys in which runs differ, where they are known.
        behind: draws what is behind the curves of these runs, and returns the legend's signs.
    """
    axes = differences(runs, but_seeds=bands) if axes is None else axes
    over = _over(axes, curves, across)
    columns = _columns(axes, over, len(runs))
    found, duration_s = drawn(runs, plots, axes, bands)
    looks = _looks(found, over)
    with as_file(files("dumbbell.report") / "paper.mplstyle") as paper, matplotlib.style.context(paper):
        abreast = len(columns) if len(columns) <= _ABREAST else _ABREAST_OF_MANY
        blocks = [list(columns.items())[i : i + abreast] for i in range(0, len(columns), abreast)]
        rows = len(blocks) * len(found)
        width = _WIDTH_IN if abreast > 1 else 5.0
        sheet = Sheet(width, abreast, [_HEIGHT_IN] * rows, rows * abreast)
        handles: dict[str, object] = {}
        free = [one for one in found if are_apart(_largest(one, members) for members in columns.values())]
        widths: list[float] = []
        spares = [(None, ())] * (ceil(len(columns) / abreast) * abreast - len(columns))
        places = [
            (quantity, place)
            for block in blocks
            for quantity in found
            for place in [*block, *(spares if block is blocks[-1] else ())]
        ]
        for index, (ax, (quantity, (heading, members))) in enumerate(zip(sheet.axes, places, strict=True)):
            if heading is None:
                ax.set_visible(False)
                continue
            factor, unit = _unit(quantity, columns.values() if quantity in free else [range(len(runs))])
            for given in (one for one in quantity.traces if one.run in members):
                trace, width_s = _thin(given, duration_s)
                widths += [] if width_s is None else [width_s]
                label, colour = looks[trace.run, trace.flow, trace.algorithm]
                drawn_as = "steps-post" if trace is given and trace.holds else "default"
                x, y = trace.time_s, trace.values / factor
                (line,) = ax.plot(x, y, linewidth=0.8, label=label, drawstyle=drawn_as, **style(colour))
                handles.setdefault(label, line)
                if trace.low is not None and trace.high is not None:
                    ends = (trace.low / factor, trace.high / factor)
                    ax.fill_between(trace.time_s, *ends, color=colour.light, alpha=0.2, linewidth=0)
            if behind is not None:
                handles |= behind(ax, index // abreast, members)
            ax.set_xlim(0, duration_s)
            own = members if quantity in free and _largest(quantity, members) > 0 else range(len(runs))
            ax.set_ylim(*_ends(quantity, factor, own))
            ax.yaxis.set_major_locator(MaxNLocator(4))
            ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            ticks = [
                at for at in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, duration_s) if 0 <= at <= duration_s
            ]
            sheet.numbers(ax, ticks, [f"{at:,.10g}" for at in ticks])
            if quantity is found[0]:
                ax.set_title(heading, loc="left")
            ax.tick_params(labelbottom=quantity is found[-1], labelleft=index % abreast == 0 or quantity in free)
            if quantity is found[-1]:
                ax.set_xlabel("time (s)")
            if index % abreast == 0:
                ax.set_ylabel(f"{quantity.panel.title} ({unit})" if unit else quantity.panel.title)
        named = listed(one.panel.title for one in free)
        # Where engines differ, the curves' names may say so.
        timings = {words.timing(run.engine) for run in runs}
        notes = [*timings] if len(timings) == 1 else []
        notes += [f"each plot has its own vertical axis: {named}"] if free else []
        if widths:
            notes.append(f"dense curves: mean of each {words.seconds(max(widths))}, pale: its extremes")
        # Names that stand above the columns need no legend.
        shown = {name: sign for name, sign in handles.items() if name not in columns}
        return sheet.arrange(lambda: shown, "; ".join(filter(None, notes)))


def _thin(trace: Trace, duration_s: float) -> tuple[Trace, float | None]:
    """A curve whose points would fill an area as a line between its extremes, and its steps in seconds."""
    values = trace.values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    found = None
    if trace.low is None:
        found = means(trace.time_s.cast(pl.Float64).to_numpy(), values, duration_s, POINTS, trace.holds)
    if found is None:
        return trace, None
    time_s, mean, low, high = map(pl.Series, (found.time_s, found.values, found.low, found.high))
    return replace(trace, time_s=time_s, values=mean, low=low, high=high), found.width_s


def _over(axes: Sequence[Axis], curves: str | None, across: str | None) -> list[Axis]:
    """The keys whose values lie over each other."""
    if across is not None:
        alone = find(axes, across, "columns")
        return [axis for axis in axes if axis is not alone]
    if curves == NONE:
        return []
    if curves is not None:
        return [find(axes, curves, "curves")]
    algorithms = [axis for axis in axes if axis.is_algorithm]
    return algorithms or list(axes)


def _columns(axes: Sequence[Axis], over: Sequence[Axis], count: int) -> dict[str, list[int]]:
    """Heading -> indices of its runs, in the order of the keys' values."""
    others = [axis for axis in axes if axis not in over]
    found: dict[tuple[int, ...], list[int]] = {}
    for run in range(count):
        found.setdefault(tuple(axis.cells[run] for axis in others), []).append(run)
    return {
        ", ".join(axis.word(index) for axis, index in zip(others, at, strict=True)): found[at] for at in sorted(found)
    }


def _looks(quantities: Sequence[Quantity], over: Sequence[Axis]) -> dict[tuple[int, str, str], tuple[str, Colour]]:
    """Run, flow and algorithm -> label and colour: an algorithm's where there are several, else one for each run."""
    given = {(one.run, one.flow, one.algorithm): one for quantity in quantities for one in quantity.traces}
    # What is of no flow, such as a queue, has the colour of the algorithm in which runs differ.
    traces = {key: replace(one, algorithm=one.algorithm or _varied(one, over)) for key, one in given.items()}
    algorithms = tuple(dict.fromkeys(one.algorithm for one in traces.values() if one.algorithm))
    labels = {key: _label(one, over) for key, one in traces.items()}
    hues: dict[str, Colour] = {}
    if len(algorithms) > 1:
        hues = dict(zip(algorithms, of_names(algorithms), strict=True))
    plain = tuple(dict.fromkeys(labels[key] for key, one in traces.items() if one.algorithm not in hues))
    own = dict(zip(plain, of_names([f"curve {label}" for label in plain]), strict=True))
    if hues and len(plain) == 1:
        # The queue of flows with several algorithms, which has the colour of none.
        own[plain[0]] = Colour(*NEUTRAL, 0)
    dashes: dict[str, list[str]] = {}
    looks = {}
    for key, one in traces.items():
        label = labels[key]
        if one.algorithm not in hues:
            looks[key] = label, own[label]
            continue
        alike = dashes.setdefault(hues[one.algorithm].light, [])
        if label not in alike:
            alike.append(label)
        colour = hues[one.algorithm]
        looks[key] = label, Colour(colour.light, colour.dark, alike.index(label))
    return looks


def _varied(trace: Trace, over: Sequence[Axis]) -> str:
    return over[0].texts[over[0].cells[trace.run]] if len(over) == 1 and over[0].is_algorithm else ""


def _label(trace: Trace, over: Sequence[Axis]) -> str:
    """`CUBIC`; `f2 BBRv1, algorithm CUBIC` of a flow whose algorithm is not the one in which runs differ."""
    parts = []
    for axis in over:
        index = axis.cells[trace.run]
        if not trace.flow:
            parts.append(axis.word(index))
        elif axis.texts[index] != trace.algorithm:
            parts.append(f"{axis.label} {axis.names[index]}")
    return ", ".join(filter(None, [trace.flow, *parts])) or title(trace.algorithm) or "all flows"


def _unit(quantity: Quantity, plots: Iterable[Sequence[int]]) -> tuple[float, str]:
    """Divisor and name of a unit that suits all plots, each with the indices of its runs."""
    panel = quantity.panel
    if panel.unit not in _PREFIXES:
        return panel.per_unit, panel.unit
    sizes = [size for members in plots if (size := _largest(quantity, members)) > 0]
    largest = min(sizes, default=0.0)
    return (words.rate_unit if panel.unit.endswith("bit/s") else words.size_unit)(largest)


def _largest(quantity: Quantity, members: Sequence[int]) -> float:
    """The largest value of these runs; 0 if they have none."""
    return max((float(one.values.max() or 0) for one in quantity.traces if one.run in members), default=0.0)  # type: ignore[arg-type]


def _ends(quantity: Quantity, factor: float, members: Sequence[int]) -> tuple[float, float]:
    """The vertical axis that suits these runs."""
    traces = [one for one in quantity.traces if one.run in members]
    high = _largest(quantity, members) / factor
    bands = [float(one.high.max() or 0) / factor for one in traces if one.high is not None]  # type: ignore[arg-type]
    high = max([high, *(min(end, _MOST_ABOVE * high) for end in bands)])
    low = 0.0
    if not quantity.panel.from_zero:
        low = min(float(one.values.min() or 0) for one in traces) / factor  # type: ignore[arg-type]
    margin = 0.05 * ((high - low) or 1.0)
    return (low - margin if low else 0.0), high + margin
