"""Effects as a figure: shares of the variation beside the effects themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dumbbell.report.groups import HUES
from dumbbell.report.render.sheet import Sheet
from dumbbell.report.study.effects import MEANING, Effects, effects_on
from dumbbell.report.study.export import timing
from dumbbell.report.study.model import Panel, StudyPlots
from dumbbell.statistics.intervals import Interval

_PAGE_IN: Final = 7.0
_ROW_IN: Final = 0.17
_NAME_IN: Final = 1.9
MOST_EFFECTS: Final = 24
"""Effects of one plot: those of the keys with the largest shares."""


def effects_figure(plots: StudyPlots, panel: Panel) -> Figure:
    """A row for each scope of the metric. Raises `InputError` if values of keys were not all combined."""
    found = effects_on(plots, panel)
    heights = [_ROW_IN * max(len(one.terms), min(len(one.sizes), MOST_EFFECTS), 3) for one in found]
    sheet = Sheet(_PAGE_IN, 2, heights, 2 * len(found))
    for row, one in enumerate(found):
        shares, sizes = sheet.axes[2 * row : 2 * row + 2]
        shares.set_title(one.of, loc="left")
        _shares(sheet, shares, one)
        _sizes(sheet, sizes, one, panel.factor)
        if row == len(found) - 1:
            shares.set_xlabel("share of the variation (%)")
            sizes.set_xlabel(f"effect ({panel.unit})" if panel.unit else "effect")
    hidden = max(len(one.sizes) - MOST_EFFECTS for one in found)
    said = [*filter(None, [timing(plots)]), f"{plots.percent} intervals", MEANING]
    said += [f"{MOST_EFFECTS} of {MOST_EFFECTS + hidden} effects: CSV has all"] if hidden > 0 else []
    heading = f"{panel.metric.title}: which key matters"
    return sheet.arrange(note="; ".join(said), heading=heading)


def _shares(sheet: Sheet, ax: Axes, effects: Effects) -> None:
    for at, term in enumerate(effects.terms):
        low, high = _ends(term.share)
        value = 100 * term.share.value
        sides = [[max(value - 100 * low, 0)], [max(100 * high - value, 0)]]
        ax.barh(
            at, value, 0.7, color=_colour(at), alpha=0.85, xerr=sides,
            error_kw={"elinewidth": 0.8, "capsize": 1.8, "ecolor": "0.15"},
        )  # fmt: skip
    ax.set_xlim(0, None)
    _names(sheet, ax, [term.name for term in effects.terms])


def _sizes(sheet: Sheet, ax: Axes, effects: Effects, factor: float) -> None:
    shown = [(at, effect) for at, term in enumerate(effects.terms) for effect in term.effects][:MOST_EFFECTS]
    for row, (at, effect) in enumerate(shown):
        low, high = (end / factor for end in _ends(effect.size))
        ax.plot([low, high], [row, row], color=_colour(at), linewidth=1.4, solid_capstyle="butt")
        ax.plot(effect.size.value / factor, row, "o", color=_colour(at), markersize=3.2)
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.margins(x=0.06)
    _names(sheet, ax, [effect.levels for _, effect in shown])


def _names(sheet: Sheet, ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), [sheet.shortened(name, _NAME_IN, 8) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _ends(interval: Interval) -> tuple[float, float]:
    return (interval.value if interval.low is None else interval.low), (
        interval.value if interval.high is None else interval.high
    )


def _colour(place: int) -> str:
    """A key's colour on white; keys of small shares are grey."""
    return HUES[place][0] if place < len(HUES) else "0.5"
