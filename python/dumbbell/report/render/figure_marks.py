"""Marks of a panel as matplotlib draws them: a function for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import offset_copy

from dumbbell.frozen import dataclass
from dumbbell.report.model import Band, Bars, Group, Line, Look, Panel, Plots, Points, States, Text, Ticks, View

NEUTRAL: Final = "#4d5866"
SOFT: Final = "0.35"
LEVEL: Final[dict[str, Any]] = {"color": "0.5", "linewidth": 0.9, "dashes": (5, 2)}
LOOKS: Final[Mapping[Look, dict[str, Any]]] = {
    "curve": {},
    "pale": {"alpha": 0.4, "linewidth": 0.7},
    "low": {"linestyle": (0, (1, 1.6)), "linewidth": 0.9},
    "high": {"linestyle": (0, (4, 2)), "linewidth": 0.8},
    "lost": {
        "linestyle": "none", "marker": "v", "markersize": 2.6, "markeredgewidth": 0, "color": "#c2321d", "zorder": 3,
    },
    "resent": {
        "linestyle": "none", "marker": "x", "markersize": 2.6, "markeredgewidth": 0.6, "color": "0.1", "zorder": 4,
    },
}  # fmt: skip
_DROP: Final = "#c2321d"
_MARK: Final = "#7a3fb0"
_NO_STATE: Final = "#5f656c"
_EXCLUDED: Final = "0.955"
_MANY: Final = 24
_MOST_TRIANGLES: Final = 60
_BLOCK: Final = 0.84
"""Height of a lane's marks, of the lane's."""


@dataclass(frozen=True)
class Place:
    """The place of a view's marks."""

    ax: Axes
    plots: Plots
    panel: Panel
    view: View

    @property
    def rows(self) -> list[tuple[str, int | None]]:
        """Names and groups of the rows of lanes, from above."""
        return list(dict.fromkeys((lane.name, lane.group) for lane in self.view.lanes))

    def group(self, index: int | None) -> Group | None:
        """A group of the plots."""
        return None if index is None else self.plots.groups[index]

    def row_of(self, lane: int) -> tuple[int, int, int]:
        """Row of a lane, its place in the row, and how many lanes the row has."""
        lanes, of = self.view.lanes, self.view.lanes[lane]
        same = [index for index, one in enumerate(lanes) if (one.name, one.group) == (of.name, of.group)]
        return self.rows.index((of.name, of.group)), same.index(lane), len(same)


def draw(place: Place) -> None:
    """Draw all marks of the view; pale lines first: the curves that are made from them lie above."""
    view, panel = place.view, place.panel
    lines = [mark for mark in view.marks if isinstance(mark, Line)]
    many = len({line.flow for line in lines}) > _MANY
    if many:
        _thin_lines(place)
    for mark in sorted(view.marks, key=lambda mark: not (isinstance(mark, Line) and _look(mark, panel) == "pale")):
        match mark:
            case Line():
                if not many or mark.is_level:
                    _line(place, mark)
            case Band():
                _band(place, mark)
            case Points():
                _points(place, mark)
            case Bars():
                _bars(place, mark)
            case Ticks():
                _ticks(place, mark)
            case States():
                _states(place, mark)
            case Text():
                pass


_WIDE_IN, _HIGH_IN = 5.6, 1.25
"""Size of a plot over something else than time, about, in inches."""
_LETTER_IN, _LINE_IN = 0.06, 0.13
_OFFSETS: Final = {
    "left": (3, "left"), "right": (-6, "right"), "above": (3, "bottom"), "middle": (3, "center"), "below": (-4, "top"),
}  # fmt: skip
"""Offset of a text from its place, in points, and matplotlib's word for its alignment."""


def words(place: Place) -> None:
    """The view's text, once its axes have their limits: what finds room beside the words before it."""
    taken: list[tuple[float, float, float, float]] = []
    for mark in place.view.marks:
        if not isinstance(mark, Text):
            continue
        if not mark.is_outside:
            left, low, right, high = box = _box(place.ax, mark)
            crossed = any(left < r and right > le and low < h and high > lo for le, lo, r, h in taken)
            if left < 0 or right > _WIDE_IN or crossed:
                continue
            taken.append(box)
        _text(place.ax, mark)


def _box(ax: Axes, text: Text) -> tuple[float, float, float, float]:
    """Left, lower, right and upper end of a text, in inches of the plot."""
    x, y = ax.transAxes.inverted().transform(ax.transData.transform((text.x, text.y)))
    across, up = _OFFSETS[text.align][0] / 72, _OFFSETS[text.side][0] / 72
    wide, at = _LETTER_IN * len(text.words), x * _WIDE_IN + across
    left = at if text.align == "left" else at - wide
    low = y * _HIGH_IN + up - {"above": 0.0, "middle": 0.5, "below": 1.0}[text.side] * _LINE_IN
    return left, low, left + wide, low + _LINE_IN


def _x(mark: Line | Band | Points, view: View) -> Any:
    if mark.x is not None:
        return mark.x.to_numpy()
    return (view.time_s if mark.time_s is None else mark.time_s).to_numpy()


def _look(line: Line | Points, panel: Panel) -> Look:
    return panel.quantities[line.quantity].look if panel.quantities else "curve"


def _line(place: Place, line: Line) -> None:
    group = place.group(line.group)
    if place.panel.across is not None and line.is_level:
        style: dict[str, Any] = {"color": "0.45", "linewidth": 0.8, "zorder": 2.4}
    elif line.is_level:
        style = {**LEVEL, "drawstyle": "steps-mid", "zorder": 1.5}
    elif group is None:
        style = {"color": NEUTRAL, "linewidth": 0.6}
    else:
        style = {"color": group.light, "linestyle": (0, group.dash) if group.dash else "-"}
    style |= LOOKS[_look(line, place.panel)]
    if line.steps and line.values.null_count() < len(line.values):
        style["drawstyle"] = "steps-post"
    place.ax.plot(_x(line, place.view), line.values.to_numpy(), **style)


def _thin_lines(place: Place) -> None:
    for index, group in enumerate(place.plots.groups):
        lines = [mark for mark in place.view.marks if isinstance(mark, Line) and mark.group == index]
        segments = [list(zip(_x(line, place.view), line.values.to_numpy(), strict=True)) for line in lines]
        drawn = LineCollection(segments, colors=group.light, linewidths=0.3, alpha=0.35, rasterized=True)
        place.ax.add_collection(drawn)
    place.ax.autoscale_view()


def _band(place: Place, band: Band) -> None:
    group = place.group(band.group)
    style: dict[str, Any] = {"color": NEUTRAL if group is None else group.light, "alpha": 0.2, "linewidth": 0}
    if band.is_excluded:
        style = {"color": _EXCLUDED, "linewidth": 0, "zorder": 0.4}
    place.ax.fill_between(_x(band, place.view), band.low.to_numpy(), band.high.to_numpy(), **style)


def _points(place: Place, points: Points) -> None:
    x, y = _x(points, place.view), points.values.cast(float).to_numpy()
    if points.look == "ring":
        place.ax.plot(x, y, "o", color="0.1", zorder=6, markersize=5, fillstyle="none", markeredgewidth=1)
    elif points.look == "dot":
        of_states = by_state(place)
        colors = _colors(place, points) if of_states else [_color(place, points.group)]
        alpha = 0.75 if of_states else 0.55
        place.ax.scatter(x, y, s=1.6, c=colors, alpha=alpha, linewidths=0, rasterized=True, zorder=2.2)
    else:
        _events_on_curve(place, points, x, y)


def _bars(place: Place, bars: Bars) -> None:
    """Each with a dot at its foot: a bar of one packet is shorter than a pixel where the plot shows many."""
    x, low, high = (one.cast(float).to_numpy() for one in (bars.time_s, bars.low, bars.high))
    if bars.state is None:
        colors: Any = _color(place, bars.group)
    else:
        palette = [*(state.light for state in place.panel.states), _NO_STATE]
        colors = [palette[code] for code in bars.state.fill_null(len(palette) - 1)]
    alpha = 0.35 if bars.is_pale else 0.9
    place.ax.vlines(x, low, high, colors=colors, linewidths=0.6, alpha=alpha, rasterized=True, zorder=2.3)
    if bars.least > 1:
        place.ax.scatter(x, low, s=bars.least, c=colors, marker="|", linewidths=0.6, rasterized=True, zorder=2.5)


def _events_on_curve(place: Place, points: Points, x: Any, y: Any) -> None:
    look: Look = "lost" if points.look == "lost" else "resent"
    style = {**LOOKS[look]}
    ticks = len(x) > _MOST_TRIANGLES
    if ticks:
        style |= {"marker": "|", "markersize": 3, "markeredgewidth": 0.4}
    if look == "lost" or ticks:
        # They point at the curve, or lie below it.
        away = {"lost": 4 if ticks else 3}.get(look, -4)
        figure = place.ax.get_figure(root=True)
        style["transform"] = offset_copy(place.ax.transData, fig=figure, y=away, units="points")
    place.ax.plot(x, y, **style)


def by_state(place: Place) -> bool:
    """True if points have the colours of states: the points of one flow that has any."""
    dots = [mark for mark in place.view.marks if isinstance(mark, Points) and mark.look == "dot"]
    return bool(place.panel.states) and len(dots) == 1


def _colors(place: Place, points: Points) -> list[str]:
    palette = [*(state.light for state in place.panel.states), _NO_STATE]
    assert points.state is not None
    return [palette[code] for code in points.state.fill_null(len(palette) - 1)]


def _color(place: Place, group: int | None) -> str:
    return NEUTRAL if group is None else place.plots.groups[group].light


def _ticks(place: Place, ticks: Ticks) -> None:
    if ticks.lane is None:
        _edge(place.ax, ticks)
        return
    lane = place.view.lanes[ticks.lane]
    row, at, of = place.row_of(ticks.lane)
    most = max(place.row_of(index)[2] for index in range(len(place.view.lanes)))
    height = _BLOCK / max(of, most)
    top = row - 0.5 * _BLOCK + height * at
    place.ax.vlines(
        ticks.time_s.to_numpy(), top + 0.9 * height, top, colors=_color(place, lane.group), linewidths=0.7,
        alpha=0.5 if lane.is_pale else 1.0,
    )  # fmt: skip


def _edge(ax: Axes, ticks: Ticks) -> None:
    """Drops on the upper edge: triangles, or ticks where these would run together. ECN marks: ticks on the lower."""
    drops = ticks.edge == "drop"
    narrow = not drops or len(ticks.time_s) > _MOST_TRIANGLES
    ax.plot(
        ticks.time_s.to_numpy(),
        [1.02 if drops else 0.03] * len(ticks.time_s),
        linestyle="none",
        marker="|" if narrow else "v",
        markersize=4 if narrow else 3,
        markeredgewidth=0.4,
        color=_DROP if drops else _MARK,
        transform=ax.get_xaxis_transform(),
        clip_on=False,
    )


def _states(place: Place, states: States) -> None:
    row, _, _ = place.row_of(states.lane)
    start, end = states.start_s.to_numpy(), states.end_s.to_numpy()
    codes = states.state.to_numpy()
    for index, state in enumerate(place.panel.states):
        mine = codes == index
        spans = list(zip(start[mine], (end - start)[mine], strict=True))
        foot, height = row + 0.5 * _BLOCK, _BLOCK * state.height
        place.ax.broken_barh(spans, (foot - height, height), facecolors=state.light, linewidth=0)


def _text(ax: Axes, text: Text) -> None:
    if text.is_outside:
        name, _, amount = text.words.partition(" ")
        ax.annotate(
            f"{name}\n{amount}", (1, text.y), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=7, color=SOFT,
        )  # fmt: skip
        return
    (x, _), (y, va) = _OFFSETS[text.align], _OFFSETS[text.side]
    ax.annotate(
        text.words, (text.x, text.y), xytext=(x, y), textcoords="offset points", ha=text.align, va=va, fontsize=7,
        color=SOFT, zorder=5,
    )  # fmt: skip
