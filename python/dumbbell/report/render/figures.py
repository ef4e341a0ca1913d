"""The plots as one matplotlib figure, panels stacked above one time axis."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import as_file, files
from typing import Any, Final

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy

from dumbbell.report.events import RETRANSMISSION
from dumbbell.report.model import Line, Look, Marks, Panel, Plots, Reference, View
from dumbbell.report.render.figures_model import LANE_IN, above, draw_bands, draw_kleinrock

_WIDTH_IN: Final = 7.0
_PANEL_IN: Final = 1.25
_MANY: Final = 24
_MOST_TRIANGLES: Final = 60
_NEUTRAL: Final = "#4d5866"
_DROP: Final = "#c2321d"
_MARK: Final = "#7a3fb0"
_LEVEL: Final[dict[str, Any]] = {"color": "0.5", "linewidth": 0.9, "dashes": (5, 2)}
_LOOKS: Final[Mapping[Look, dict[str, Any]]] = {
    "curve": {},
    "pale": {"alpha": 0.4, "linewidth": 0.7},
    "low": {"linestyle": (0, (1, 1.6)), "linewidth": 0.9},
    "high": {"linestyle": (0, (4, 2)), "linewidth": 0.8},
    "lost": {"linestyle": "none", "marker": "v", "markersize": 2.6, "markeredgewidth": 0, "color": _DROP, "zorder": 3},
    "resent": {
        "linestyle": "none",
        "marker": "x",
        "markersize": 2.6,
        "markeredgewidth": 0.6,
        "color": "0.1",
        "zorder": 4,
    },
}
_LANE_IN: Final = 0.16
_SCATTER_IN: Final = 1.7
_MOST_CHANGES_NAMED: Final = 12
_LABEL_HEIGHT: Final = 0.2
"""Two lines, of the axes'."""
_LETTER: Final = 0.0092
"""Width of a small letter, of the axes'."""


def figure(plots: Plots) -> Figure:
    """Draw the first view of each panel, and a lane of marks per group, 7 inches wide; beneath, Kleinrock's plot."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        rows = _rows(plots)
        heights = [height for height, _ in rows] + ([_SCATTER_IN] * 2 if plots.kleinrock else [])
        fig = Figure(figsize=(_WIDTH_IN, sum(heights) + 0.6 + (0.25 if plots.kleinrock else 0)), layout="constrained")
        if not heights:
            fig.text(0.5, 0.5, "\n".join(plots.missing) or "Nothing was recorded.", ha="center", va="center")
            return fig
        grid = fig.add_gridspec(len(heights), 1, height_ratios=heights)
        axes: list[Axes] = []
        for row, (_, draw) in enumerate(rows):
            axes.append(fig.add_subplot(grid[row], sharex=axes[0] if axes else None))
            draw(axes[-1])
        for ax in axes:
            for change in plots.changes:
                ax.axvline(change.time_s, color="0.55", linewidth=0.6, dashes=(1.5, 1.5), zorder=1.4)
            ax.tick_params(labelbottom=ax is axes[-1])
        if axes:
            _name_changes(axes[0], plots)
            axes[-1].set_xlim(0, plots.duration_s)
            axes[-1].set_xlabel("time (s)")
        if plots.kleinrock:
            lower = fig.add_subplot(grid[-1])
            upper = fig.add_subplot(grid[-2], sharex=lower)
            draw_kleinrock(upper, lower, plots, plots.kleinrock)
        # The names of lanes are long: units stand beside their own ticks.
        fig.align_ylabels([ax for ax in fig.axes if ax.get_ylabel()])
        if plots.groups:
            entries = _legend(plots)
            fig.legend(handles=entries, loc="outside upper center", ncols=min(6, len(entries)))
        return fig


def _rows(plots: Plots) -> list[tuple[float, Callable[[Axes], None]]]:
    """Height and drawing of all plots over time; the states stand beneath the goodput that they explain."""
    rows: list[tuple[float, Callable[[Axes], None]]] = [
        (_PANEL_IN, partial(_panel, panel=panel, plots=plots)) for panel in plots.panels
    ]
    if plots.bands:
        lanes = 0.3 + LANE_IN * len(plots.bands.lanes)
        rows.insert(1, (lanes, partial(draw_bands, plots=plots, bands=plots.bands)))
    if plots.events:
        rows.append((0.45 + _LANE_IN * len(plots.kinds) * len(plots.groups), partial(_lanes, plots=plots)))
    return rows


def render(fig: Figure, format: str) -> bytes:
    """The figure as `png`, `svg` or `pdf`; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        fig.savefig(buffer, format=format, metadata=undated[format])
    return buffer.getvalue()


def _panel(ax: Axes, panel: Panel, plots: Plots) -> None:
    view = panel.views[0]
    if len({line.flow for line in view.lines}) > _MANY:
        _thin_lines(ax, view, plots)
    else:
        for line in sorted(view.lines, key=lambda line: _look(line, panel) != "pale"):
            _line(ax, line, view, panel, plots)
    _limits(ax, view, panel.from_zero)
    if view.top is not None:
        ax.set_ylim(top=1.05 * view.top)
    labelled: list[float] = []
    for reference in view.references:
        ax.axhline(reference.value, color="0.5", linewidth=0.7, dashes=(5, 3), zorder=1.5)
        place = ax.transData.transform((0, reference.value))[1] / ax.bbox.height
        if all(abs(place - other) > _LABEL_HEIGHT for other in labelled):
            labelled.append(place)
            _label(ax, reference, inside=view.second is not None)
    # Marks of drops stand on the upper edge.
    dropped = any(marks.kind == "drop" for marks in view.marks)
    ax.set_title(f"{panel.title}, {view.name}" if view.name else panel.title, pad=7 if dropped else None)
    ax.set_ylabel(panel.unit)
    _quantities(ax, panel)
    if view.second is not None:
        factor = view.second.factor
        to, back = _scaling(factor), _scaling(1 / factor)
        twin = ax.secondary_yaxis("right", functions=(to, back))
        twin.set_ylabel(view.second.unit)
    for marks in view.marks:
        _edge(ax, marks)


def _line(ax: Axes, line: Line, view: View, panel: Panel, plots: Plots) -> None:
    time = (view.time_s if line.time_s is None else line.time_s).to_numpy()
    style: dict[str, Any] = _style(line, plots) | _LOOKS[_look(line, panel)]
    if line.steps and line.values.null_count() < len(line.values):
        style["drawstyle"] = "steps-post"
    look = _look(line, panel)
    ticks = look in ("lost", "resent") and len(line.values) > _MOST_TRIANGLES
    if ticks:
        style |= {"marker": "|", "markersize": 3, "markeredgewidth": 0.4}
    if look == "lost" or ticks:
        # They point at the curve, or stand beneath it.
        away = {"lost": 4 if ticks else 3}.get(look, -4)
        style["transform"] = offset_copy(ax.transData, fig=ax.get_figure(root=True), y=away, units="points")
    ax.plot(time, line.values.to_numpy(), **style)


def _look(line: Line, panel: Panel) -> Look:
    return panel.quantities[line.quantity].look if panel.quantities else "curve"


def _quantities(ax: Axes, panel: Panel) -> None:
    """What is drawn how, on the title's line."""
    plain: dict[str, Any] = {"color": "0.35", "linewidth": 0.9, "linestyle": "-"}
    handles = [Line2D([], [], label=one.word, **plain | _LOOKS[one.look]) for one in panel.quantities]
    if handles:
        above(ax, handles)


def _edge(ax: Axes, marks: Marks) -> None:
    """Drops on the upper edge: triangles, or ticks where these would run together. ECN marks: ticks on the lower."""
    drops = marks.kind == "drop"
    ticks = not drops or len(marks.time_s) > _MOST_TRIANGLES
    ax.plot(
        marks.time_s.to_numpy(),
        [1.02 if drops else 0.03] * len(marks.time_s),
        linestyle="none",
        marker="|" if ticks else "v",
        markersize=4 if ticks else 3,
        markeredgewidth=0.4,
        color=_DROP if drops else _MARK,
        transform=ax.get_xaxis_transform(),
        clip_on=False,
    )


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
    """Right of the axes, or within them where an axis stands on the right."""
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


def _limits(ax: Axes, view: View, from_zero: bool) -> None:
    """Room for curves and levels, and for words above the level where an axis stands on the right."""
    low, high = ax.get_ylim()
    levels = [reference.value for reference in view.references]
    low = 0.0 if from_zero or not levels else min([low, *(level - 0.03 * (high - level) for level in levels)])
    above = 1.16 if view.second is not None else 1.05
    ax.set_ylim(low, max([high, *(low + above * (level - low) for level in levels)]))


def _thin_lines(ax: Axes, view: View, plots: Plots) -> None:
    time = view.time_s.to_numpy()
    for index, group in enumerate(plots.groups):
        curves = [line.values.to_numpy() for line in view.lines if line.group == index]
        segments = [list(zip(time, values, strict=True)) for values in curves]
        ax.add_collection(LineCollection(segments, colors=group.light, linewidths=0.3, alpha=0.35, rasterized=True))
    ax.autoscale_view()
    for line in view.lines:
        if line.is_level:
            ax.plot(time, line.values.to_numpy(), **_style(line, plots))


def _style(line: Line, plots: Plots) -> dict[str, Any]:
    if line.is_level:
        return {**_LEVEL, "drawstyle": "steps-mid", "zorder": 1.5}
    if line.group is None:
        return {"color": _NEUTRAL, "linewidth": 0.6}
    group = plots.groups[line.group]
    return {"color": group.light, "linestyle": (0, group.dash) if group.dash else "-"}


def _lanes(ax: Axes, plots: Plots) -> None:
    """Per group a lane for each kind of event."""
    names = [group.label for group in plots.groups]
    if any(events.group is None for events in plots.events):
        names.append("other" if any(key != RETRANSMISSION.key for key in plots.counted_per_flow) else "any flow")
    share = {kind.key: index for index, kind in enumerate(plots.kinds)}
    pale = {kind.key for kind in plots.kinds if kind.pale}
    for events in plots.events:
        lane = len(plots.groups) if events.group is None else events.group
        height = 0.84 / len(plots.kinds)
        top = lane - 0.42 + height * share[events.kind]
        color = _NEUTRAL if events.group is None else plots.groups[events.group].light
        ax.vlines(
            events.time_s.to_numpy(), top + 0.9 * height, top, colors=color, linewidths=0.7,
            alpha=0.5 if events.kind in pale else 1.0,
        )  # fmt: skip
    ax.set_title(f"Events, from above: {', '.join(kind.word for kind in plots.kinds)}")
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")


def _legend(plots: Plots) -> list[Line2D]:
    flows = [
        Line2D([], [], color=group.light, linestyle=(0, group.dash) if group.dash else "-", label=group.label)
        for group in plots.groups
    ]
    levels = {line.name for panel in plots.panels for line in panel.views[0].lines if line.is_level}
    return flows + [Line2D([], [], label=name, **_LEVEL) for name in sorted(levels)]
