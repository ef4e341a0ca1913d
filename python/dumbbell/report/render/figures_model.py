"""What the figure shows of BBR and of Kleinrock's plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from dumbbell.report import words
from dumbbell.report.model import Bands, Kleinrock, Limit, Plots

LANE_IN: Final = 0.22
_IMPOSSIBLE: Final = "0.955"
_INK: Final = "0.1"
_SOFT: Final = "0.35"
_NO_STATE: Final = "#5f656c"
_RING: Final[dict[str, Any]] = {"markersize": 5, "fillstyle": "none", "markeredgewidth": 1}
_Ha = Literal["left", "right"]
_Va = Literal["top", "center", "bottom"]


def draw_bands(ax: Axes, plots: Plots, bands: Bands) -> None:
    """A lane per flow, a band per state."""
    for row, lane in enumerate(reversed(bands.lanes)):
        start, end = lane.start_s.to_numpy(), lane.end_s.to_numpy()
        of = lane.state.to_numpy()
        for index, state in enumerate(bands.states):
            mine = of == index
            spans = list(zip(start[mine], (end - start)[mine], strict=True))
            ax.broken_barh(spans, (row, 0.84 * state.height), facecolors=state.light, linewidth=0)
        ax.text(
            -0.012, row + 0.42, lane.flow, transform=ax.get_yaxis_transform(), ha="right", va="center",
            color=plots.groups[lane.group].light, fontweight="bold",
        )  # fmt: skip
    ax.set_ylim(-0.16, len(bands.lanes))
    ax.set_yticks([])
    ax.grid(visible=False, axis="y")
    ax.set_title("BBR state")
    above(ax, _colors(bands))


def _colors(bands: Bands) -> list[Patch]:
    """One for each colour: phases of version 1 have those of their like in the later versions."""
    first = {state.light: state for state in reversed(bands.states)}
    return [Patch(facecolor=s.light, label=s.word.split(": ")[-1]) for s in bands.states if first[s.light] is s]


def above(ax: Axes, handles: Sequence[Artist]) -> None:
    """A legend on the title's line, at the right."""
    ax.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=len(handles), fontsize=7,
        handlelength=1.1, handleheight=0.7, columnspacing=1.0, handletextpad=0.4, borderaxespad=0.1, borderpad=0,
    )  # fmt: skip


def draw_kleinrock(upper: Axes, lower: Axes, plots: Plots, plot: Kleinrock) -> None:
    """Delivery rate above RTT, over data in flight."""
    factor, unit = words.rate_unit(plot.top_rate_bps)
    size, size_name = (plot.bdp_bytes, "BDP") if plot.bdp_bytes else words.size_unit(plot.right_bytes)
    by_state = plots.bands is not None and len(plot.clouds) == 1
    for ax, top, per in ((upper, plot.top_rate_bps, factor), (lower, plot.top_rtt_ms, 1.0)):
        ax.set_xlim(0, plot.right_bytes / size)
        ax.set_ylim(0 if ax is upper else plot.bottom_rtt_ms, top / per)
    for cloud in plot.clouds:
        x = cloud.inflight_bytes.to_numpy() / size
        if by_state and plots.bands is not None:
            palette = [*(state.light for state in plots.bands.states), _NO_STATE]
            colors = [palette[index] for index in cloud.state.fill_null(len(palette) - 1)]
        else:
            colors = [plots.groups[cloud.group].light]
        for ax, y in (
            (upper, cloud.rate_bps.cast(float).to_numpy() / factor),
            (lower, cloud.rtt_ms.cast(float).to_numpy()),
        ):
            ax.scatter(
                x, y, s=1.6, c=colors, alpha=0.75 if by_state else 0.55, linewidths=0, rasterized=True, zorder=2.2
            )
    _limits(upper, plot.rate_limits, size, factor, top=True)
    _limits(lower, plot.rtt_limits, size, 1.0, top=False)
    _levels(upper, lower, plot, size, factor)
    upper.set_title("Kleinrock's plot")
    upper.set_ylabel(unit)
    lower.set_ylabel("RTT (ms)")
    lower.set_xlabel(f"in flight ({size_name}{f' of {words.size(plot.bdp_bytes)}' if plot.bdp_bytes else ''})")
    upper.tick_params(labelbottom=False)
    if by_state and plots.bands is not None:
        above(upper, _colors(plots.bands))


def _limits(ax: Axes, limits: Sequence[Limit], size: float, factor: float, top: bool) -> None:
    for index, limit in enumerate(limits):
        x, y = np.array(limit.inflight_bytes) / size, np.array(limit.values) / factor
        ax.plot(x, y, color="0.45", linewidth=0.8, zorder=2.4)
        if index == 0:
            edge = ax.get_ylim()[1 if top else 0]
            ax.fill_between(x, y, edge, color=_IMPOSSIBLE, linewidth=0, zorder=0.4)


def _levels(upper: Axes, lower: Axes, plot: Kleinrock, size: float, factor: float) -> None:
    if plot.bdp_bytes is None or not plot.rate_limits:
        return
    bdp, rate, rtt = plot.bdp_bytes, plot.rate_limits[-1], plot.rtt_limits[-1]
    for ax in (upper, lower):
        for at in (bdp, plot.full_bytes):
            if at is not None:
                ax.axvline(at / size, color="0.5", linewidth=0.7, dashes=(1.5, 2), zorder=1.5)
    for ax, limit, per in ((upper, rate, factor), (lower, rtt, 1.0)):
        ax.plot(bdp / size, limit.values[1] / per, "o", color=_INK, zorder=6, **_RING)
    name, _, amount = rate.label.partition(" ")
    upper.annotate(
        f"{name}\n{amount}", (1, rate.values[1] / factor), xycoords=("axes fraction", "data"),
        xytext=(4, 0), textcoords="offset points", va="center", fontsize=7, color=_SOFT,
    )  # fmt: skip
    half = 0.6 * rate.inflight_bytes[1] / size
    _word(upper, "in flight / base RTT", (half, rate.values[1] / factor * 0.6), (-10, 3), "right", "center")
    _word(upper, "operating point", (bdp / size, rate.values[1] / factor), (-6, 2), "right", "bottom")
    base = rtt.values[1]
    _word(lower, rtt.label, (0, base), (3, -3), "left", "top")
    far = bdp + 0.5 * (min(plot.right_bytes, rtt.inflight_bytes[2]) - bdp)
    _word(lower, "in flight / capacity", (far / size, base * far / bdp), (9, -7), "left", "top")
    if plot.full_bytes is not None:
        _word(lower, "buffer full", (plot.full_bytes / size, lower.get_ylim()[0]), (-3, 3), "right", "bottom")


def _word(ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], ha: _Ha, va: _Va) -> None:
    ax.annotate(text, at, xytext=offset, textcoords="offset points", ha=ha, va=va, fontsize=7, color=_SOFT, zorder=5)
