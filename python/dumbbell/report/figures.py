"""The plots as one matplotlib figure, panels stacked above one time axis."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any, Final

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dumbbell.report.events import DROP
from dumbbell.report.model import Events, Line, Panel, Plots, Reference, View

_WIDTH_IN: Final = 7.0
_PANEL_IN: Final = 1.25
_LANES_IN: Final = 0.32
_MANY: Final = 24
_MOST_TRIANGLES: Final = 60
_NEUTRAL: Final = "#4d5866"
_DROP: Final = "#c2321d"


def figure(plots: Plots) -> Figure:
    """Draw the first view of each panel, and a lane of marks per group, 7 inches wide."""
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        lanes = 0.45 + _LANES_IN * len(plots.groups) if plots.events else 0.0
        heights = [_PANEL_IN] * len(plots.panels) + ([lanes] if plots.events else [])
        fig = Figure(figsize=(_WIDTH_IN, sum(heights) + 0.6), layout="constrained")
        if not heights:
            fig.text(0.5, 0.5, "\n".join(plots.missing) or "Nothing was recorded.", ha="center", va="center")
            return fig
        axes = list(fig.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
        for ax, panel in zip(axes, plots.panels, strict=False):
            _panel(ax, panel, plots)
        if plots.events:
            _lanes(axes[-1], plots)
        axes[-1].set_xlim(0, plots.duration_s)
        axes[-1].set_xlabel("time (s)")
        fig.align_ylabels(axes)
        if plots.groups:
            fig.legend(handles=_legend(plots), loc="outside upper center", ncols=min(6, len(plots.groups)))
        return fig


def render(fig: Figure, format: str) -> bytes:
    """The figure as `png`, `svg` or `pdf`; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with as_file(files("dumbbell.report") / "paper.mplstyle") as style, matplotlib.style.context(style):
        fig.savefig(buffer, format=format, metadata=undated[format])
    return buffer.getvalue()


def _panel(ax: Axes, panel: Panel, plots: Plots) -> None:
    view = panel.views[0]
    many = len(view.lines) > _MANY
    time = view.time_s.to_numpy()
    if many:
        _thin_lines(ax, view, plots)
    else:
        for line in view.lines:
            ax.plot(time, line.values.to_numpy(), **_style(line, plots))
    _limits(ax, view, panel.from_zero)
    for reference in view.references:
        ax.axhline(reference.value, color="0.5", linewidth=0.7, dashes=(5, 3), zorder=1.5)
        _label(ax, reference, inside=view.second is not None)
    # Marks of drops stand on the upper edge.
    ax.set_title(f"{panel.title}, {view.name}" if view.name else panel.title, pad=7 if len(view.marks_s) else None)
    ax.set_ylabel(panel.unit)
    if view.second is not None:
        factor = view.second.factor
        to, back = _scaling(factor), _scaling(1 / factor)
        twin = ax.secondary_yaxis("right", functions=(to, back))
        twin.set_ylabel(view.second.unit)
    if len(view.marks_s):
        _drops(ax, view)


def _drops(ax: Axes, view: View) -> None:
    """On the upper edge: triangles, or ticks where triangles would run together."""
    crowded = len(view.marks_s) > _MOST_TRIANGLES
    ax.plot(
        view.marks_s.to_numpy(),
        [1.02] * len(view.marks_s),
        linestyle="none",
        marker="|" if crowded else "v",
        markersize=4 if crowded else 3,
        markeredgewidth=0.4,
        color=_DROP,
        transform=ax.get_xaxis_transform(),
        clip_on=False,
    )


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
    low = 0.0 if from_zero else min([low, *(level - 0.03 * (high - level) for level in levels)])
    above = 1.16 if view.second is not None else 1.05
    ax.set_ylim(low, max([high, *(low + above * (level - low) for level in levels)]))


def _thin_lines(ax: Axes, view: View, plots: Plots) -> None:
    time = view.time_s.to_numpy()
    for index, group in enumerate(plots.groups):
        curves = [line.values.to_numpy() for line in view.lines if line.group == index]
        segments = [list(zip(time, values, strict=True)) for values in curves]
        ax.add_collection(LineCollection(segments, colors=group.light, linewidths=0.3, alpha=0.35, rasterized=True))
    ax.autoscale_view()


def _style(line: Line, plots: Plots) -> dict[str, Any]:
    if line.group is None:
        return {"color": _NEUTRAL, "linewidth": 0.6}
    group = plots.groups[line.group]
    return {"color": group.light, "linestyle": (0, group.dash) if group.dash else "-"}


def _lanes(ax: Axes, plots: Plots) -> None:
    """Per group one lane of drops, and one of retransmissions, paler, beneath it."""
    names = [group.label for group in plots.groups]
    others = [events for events in plots.events if events.group is None]
    if others:
        names.append("other" if DROP in plots.counted_per_flow else "any flow")
    for events in plots.events:
        lane = len(plots.groups) if events.group is None else events.group
        _marks(ax, events, lane, _NEUTRAL if events.group is None else plots.groups[events.group].light)
    ax.set_title("Drops (above) and retransmissions (below)")
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")


def _marks(ax: Axes, events: Events, lane: int, color: str) -> None:
    upper = events.kind == DROP
    bottom, top = (lane, lane - 0.4) if upper else (lane + 0.4, lane)
    ax.vlines(events.time_s.to_numpy(), bottom, top, colors=color, linewidths=0.7, alpha=1.0 if upper else 0.5)


def _legend(plots: Plots) -> list[Line2D]:
    return [
        Line2D([], [], color=group.light, linestyle=(0, group.dash) if group.dash else "-", label=group.label)
        for group in plots.groups
    ]
