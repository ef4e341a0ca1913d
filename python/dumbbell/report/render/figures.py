"""The plots as one matplotlib figure, panels stacked above one time axis."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from typing import Any, Final

import matplotlib.style
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogFormatter

from dumbbell.report import words
from dumbbell.report.model import Bars, Line, Panel, Plots, Reference, States, Ticks, View
from dumbbell.report.relative import relative
from dumbbell.report.render import figure_marks as marks
from dumbbell.report.render.figure_marks import LEVEL, LOOKS, SOFT, Place
from dumbbell.report.render.notebook import Picture

_WIDTH_IN: Final = 7.0
_PANEL_IN: Final = 1.25
_LANE_IN: Final = 0.16
_STATES_IN: Final = 0.22
_STACKED_IN: Final = 1.7
_MOST_CHANGES_NAMED: Final = 12
_LABEL_HEIGHT: Final = 0.2
"""Two lines of the axes' label."""
_LETTER: Final = 0.0092
"""Width of a small letter, of the axes'."""
_MOST_ABREAST: Final = 6
_KEY: Final = 0.08
"""Width of a sign of the figure's legend, with the room around it, of the figure's."""
_BOLD: Final = 0.0115
"""Width of a letter of a title."""
_SIGN: Final = 0.05
"""Width of a legend's sign, with the room around it."""
_LINE_PT: Final = 17.0
"""Height of a legend below a title that has no room beside it, in points."""


def figure(plots: Plots) -> Figure:
    """Draw one view or some of each panel, all of a stacked one, 7 inches wide; panels over time share their axis."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        over_time = _over_time(plots)
        others = [(panel, view) for panel in plots.panels if panel.across is not None for view in panel.views]
        heights = [_height(view) for _, view in over_time] + [_STACKED_IN] * len(others)
        fig = Picture(figsize=(_WIDTH_IN, sum(heights) + 0.6 + (0.25 if others else 0)), layout="constrained")
        if not heights:
            fig.text(0.5, 0.5, "\n".join(plots.missing) or "Nothing was recorded.", ha="center", va="center")
            return fig
        grid = fig.add_gridspec(len(heights), 1, height_ratios=heights)
        axes: list[Axes] = []
        for row, (panel, view) in enumerate(over_time):
            axes.append(fig.add_subplot(grid[row], sharex=axes[0] if axes else None))
            _panel(axes[-1], panel, view, plots)
        _time_axis(axes, plots)
        # The panels from the lowest up: those above share the lowest one's axis.
        shared: dict[str, Axes] = {}
        for row, (panel, view) in reversed(list(enumerate(others, len(over_time)))):
            ax = fig.add_subplot(grid[row], sharex=shared.get(panel.key))
            _across(ax, panel, view, plots, is_lowest=panel.key not in shared, is_highest=view is panel.views[0])
            shared.setdefault(panel.key, ax)
        # The names of lanes are long: units are written beside their own ticks.
        fig.align_ylabels([ax for ax in fig.axes if ax.get_ylabel()])
        if plots.groups:
            entries = _legend(plots)
            longest = max(len(str(entry.get_label())) for entry in entries)
            columns = min(_MOST_ABREAST, len(entries), max(1, int(1 / (_KEY + _LETTER * longest))))
            fig.legend(handles=entries, loc="outside upper center", ncols=columns)
        return fig


def _over_time(plots: Plots) -> list[tuple[Panel, View]]:
    """The views that are drawn over time, with their panels."""
    shown = (panel for panel in plots.panels if panel.across is None)
    return [
        (panel, one)
        for panel in shown
        for view in panel.views[: panel.pictured]
        for one in ([view] if view.mean_bps is None else [view, relative(view, view.mean_bps / panel.per_unit)])
    ]


def _height(view: View) -> float:
    """The height in inches."""
    if not view.lanes:
        return _PANEL_IN
    if _has_states(view):
        return 0.3 + _STATES_IN * len(view.lanes)
    kinds = len({lane.key for lane in view.lanes})
    rows = len({(lane.name, lane.group) for lane in view.lanes if lane.group is not None})
    return 0.45 + _LANE_IN * kinds * max(1, rows)


def _has_states(view: View) -> bool:
    return any(isinstance(mark, States) for mark in view.marks)


def _has_colours(view: View) -> bool:
    return any(isinstance(mark, Bars) and mark.state is not None for mark in view.marks)


def _time_axis(axes: Sequence[Axes], plots: Plots) -> None:
    for ax in axes:
        for change in plots.changes:
            ax.axvline(change.time_s, color="0.55", linewidth=0.6, dashes=(1.5, 1.5), zorder=1.4)
        ax.tick_params(labelbottom=ax is axes[-1])
    if axes:
        _name_changes(axes[0], plots)
        axes[-1].set_xlim(0, plots.duration_s)
        axes[-1].set_xlabel("time (s)")


def render(fig: Figure, format: str) -> bytes:
    """The figure as `png`, `svg` or `pdf`; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        fig.savefig(buffer, format=format, metadata=undated[format])
    return buffer.getvalue()


def _panel(ax: Axes, panel: Panel, view: View, plots: Plots) -> None:
    place = Place(ax, plots, panel, view)
    marks.draw(place)
    if view.lanes:
        _lanes(place)
        return
    if panel.is_log:
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))
    elif view.is_relative:
        _fit(ax, panel, view)
    else:
        _limits(ax, view, panel.from_zero)
    if view.top is not None:
        ax.set_ylim(top=1.05 * view.top)
    labelled: list[float] = []
    for reference in view.references:
        ax.axhline(reference.value, color="0.5", linewidth=0.7, dashes=(5, 3), zorder=1.5)
        at = ax.transData.transform((0, reference.value))[1] / ax.bbox.height
        if all(abs(at - other) > _LABEL_HEIGHT for other in labelled):
            labelled.append(at)
            _label(ax, reference, inside=view.second is not None)
    # Ticks of drops lie on the upper edge.
    dropped = any(isinstance(mark, Ticks) and mark.edge == "drop" for mark in view.marks)
    title = f"{panel.title}, {view.name}" if view.name else panel.title
    beside = _above(ax, _colors(panel)) if _has_colours(view) else _quantities(ax, panel)
    is_long = _BOLD * len(title) + beside > 0.9
    ax.set_title(title, pad=_LINE_PT if is_long else 7 if dropped else None)
    ax.set_ylabel(panel.unit)
    _plain_numbers(ax, panel)
    if view.second is not None:
        factor = view.second.factor
        to, back = _scaling(factor), _scaling(1 / factor)
        twin = ax.secondary_yaxis("right", functions=(to, back))
        twin.set_ylabel(view.second.unit)
    marks.words(place)


def _lanes(place: Place) -> None:
    """Names of rows on the left, and what the lanes of each are."""
    ax, view, plots = place.ax, place.view, place.plots
    ax.grid(visible=False, axis="y")
    if _has_states(view):
        for row, (name, group) in enumerate(place.rows):
            of = place.group(group)
            ax.text(
                -0.012, row, name, transform=ax.get_yaxis_transform(), ha="right", va="center",
                color=SOFT if of is None else of.light, fontweight="bold",
            )  # fmt: skip
        ax.set_ylim(len(place.rows) - 0.5, -0.5)
        ax.set_yticks([])
        ax.set_title(place.panel.title)
        _above(ax, _colors(place.panel))
        return
    kinds = dict.fromkeys(lane.word for lane in view.lanes)
    ax.set_title(f"{place.panel.title}, from above: {', '.join(kinds)}")
    ax.set_ylim(len(place.rows) - 0.5, -0.5)
    names = [name if group is None else plots.groups[group].label for name, group in place.rows]
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)


def _across(ax: Axes, panel: Panel, view: View, plots: Plots, is_lowest: bool, is_highest: bool) -> None:
    """A view over something else than time."""
    across = panel.across
    assert across is not None
    place = Place(ax, plots, panel, view)
    marks.draw(place)
    if across.left > 0:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.xaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))
    ax.set_xlim(across.left, across.right)
    ax.set_ylim(view.low or 0.0, view.top)
    for at in across.levels:
        ax.axvline(at, color="0.5", linewidth=0.7, dashes=(1.5, 2), zorder=1.5)
    marks.words(place)
    ax.set_ylabel(view.unit if is_highest else f"{view.title} ({view.unit})")
    if is_highest:
        ax.set_title(panel.title)
        if marks.by_state(place):
            _above(ax, _colors(panel))
    if is_lowest:
        ax.set_xlabel(f"{across.title} ({across.unit}{f' of {across.unit_is}' if across.unit_is else ''})")
    ax.tick_params(labelbottom=is_lowest)


def _plain_numbers(ax: Axes, panel: Panel) -> None:
    """Numbers of the vertical axis without powers of ten: bytes in a unit that fits."""
    factor = 1.0
    if panel.unit == "bytes":
        factor, unit = words.size_unit(max(map(abs, ax.get_ylim())))
        ax.set_ylabel(unit)
    if panel.unit == "bytes" or panel.is_log:
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:,.10g}"))


def _quantities(ax: Axes, panel: Panel) -> float:
    """Draw the legend of quantities on the title's line; returns its width."""
    plain: dict[str, Any] = {"color": SOFT, "linewidth": 0.9, "linestyle": "-"}
    handles = [Line2D([], [], label=one.word, **plain | LOOKS[one.look]) for one in panel.quantities]
    return _above(ax, handles) if handles else 0.0


def _colors(panel: Panel) -> list[Patch]:
    """One for each colour: phases of version 1 have those of their like in the later versions."""
    first = {state.light: state for state in reversed(panel.states)}
    shown = [state for state in panel.states if first[state.light] is state]
    return [Patch(facecolor=state.light, label=state.word.split(": ")[-1]) for state in shown]


def _above(ax: Axes, handles: Sequence[Artist]) -> float:
    """A legend on the title's line, at the right; returns about its width, of the axes'."""
    ax.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=len(handles), fontsize=7,
        handlelength=1.1, handleheight=0.7, columnspacing=1.0, handletextpad=0.4, borderaxespad=0.1, borderpad=0,
    )  # fmt: skip
    return sum(_SIGN + _LETTER * len(str(handle.get_label())) for handle in handles)


def _name_changes(ax: Axes, plots: Plots) -> None:
    """Beside their lines in the first panel, those that find room."""
    free_from = 0.0
    named = plots.changes if len(plots.changes) <= _MOST_CHANGES_NAMED else ()
    for change in named:
        at = change.time_s / plots.duration_s + 0.004
        width = _LETTER * len(change.label)
        if at < free_from or at + width > 1:
            continue
        free_from = at + width
        ax.annotate(
            change.label, (at, 0.97), xycoords="axes fraction", va="top", fontsize=6, color="0.35", zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6},
        )  # fmt: skip


def _scaling(factor: float) -> Callable[[Any], Any]:
    return lambda values: values * factor


def _label(ax: Axes, reference: Reference, inside: bool) -> None:
    """Labels are right of the axes, or within the axes if a second axis is on the right."""
    ax.annotate(
        reference.label if inside else reference.label.replace(" ", "\n", 1),
        (1, reference.value),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 1.5) if inside else (4, 0),
        textcoords="offset points",
        ha="right" if inside else "left",
        va="bottom" if inside else "center",
        fontsize=7,
        color="0.35",
    )


def _fit(ax: Axes, panel: Panel, view: View) -> None:
    """Fit what was sent and acknowledged: a receiver's window may be far above."""
    shown = [
        mark.values for mark in view.lines if not panel.quantities or panel.quantities[mark.quantity].look != "high"
    ]
    values = pl.concat([one.cast(pl.Float64) for one in shown])
    low, high = float(values.min() or 0.0), float(values.max() or 0.0)  # type: ignore[arg-type]
    margin = 0.05 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)


def _limits(ax: Axes, view: View, from_zero: bool) -> None:
    """Leave room for curves and levels, and for words above the level if a second axis is on the right."""
    low, high = ax.get_ylim()
    levels = [reference.value for reference in view.references]
    low = 0.0 if from_zero or not levels else min([low, *(level - 0.03 * (high - level) for level in levels)])
    above = 1.16 if view.second is not None else 1.05
    ax.set_ylim(low, max([high, *(low + above * (level - low) for level in levels)]))


def _legend(plots: Plots) -> list[Line2D]:
    flows = [
        Line2D([], [], color=group.light, linestyle=(0, group.dash) if group.dash else "-", label=group.label)
        for group in plots.groups
    ]
    levels = {
        mark.name for _, view in _over_time(plots) for mark in view.marks if isinstance(mark, Line) and mark.is_level
    }
    return flows + [Line2D([], [], label=name, **LEVEL) for name in sorted(levels)]
