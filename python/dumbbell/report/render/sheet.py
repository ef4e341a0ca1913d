"""Places plots, their legend and a note on a sheet so that no text is cut or lies on another.

A plot keeps its height; the sheet grows. The width of text is measured, and text that finds no room is broken into
lines, shortened in the middle, turned, or left out (numbers of an axis only).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import Any, Final, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dumbbell.report.model import MOST_APART
from dumbbell.report.render.notebook import Picture

_EDGE: Final = 0.06
"""Room at the sheet's edges, in inches, as all lengths here."""
_GAP: Final = 0.12
"""Room between two plots."""
_APART: Final = 0.05
"""Room between two words side by side."""
_SAFE: Final = 1.04
"""Renderers round the width of letters in different ways."""
_MOST_IN_NAME: Final = 40
_MOST_TICKS: Final = 6
"""Ticks of a linear axis that has no room for all values."""
_HANDLE: Final = 0.42
"""Width of a legend's sign, with the room around it."""
_SIZE: Final = 8.0
_SMALL: Final = 6.0


@dataclass
class Sheet:
    """Plots in rows."""

    width: float
    columns: int
    heights: Sequence[float]
    """The height of the plots of each row, without their texts."""
    count: int
    fig: Figure = field(init=False)
    axes: list[Axes] = field(init=False)
    fits: dict[Axes, Callable[[float], None]] = field(init=False, default_factory=dict)
    """Axes -> chooses ticks for a plot of this width."""

    def __post_init__(self) -> None:
        """Make the figure and its axes, whose places are not yet known."""
        self.fig = Picture(figsize=(self.width, sum(self.heights)))
        self._canvas = FigureCanvasAgg(self.fig)
        self.axes = [self.fig.add_axes((0.1, 0.1, 0.8, 0.8), label=str(i)) for i in range(self.count)]

    def arrange(
        self, handles: Callable[[], Mapping[str, Any]] | None = None, note: str = "", heading: str = ""
    ) -> Figure:
        """Give everything its place. `handles`: what the legend shows of each name, asked when plots have their
        widths. `heading` and `note`: texts above and below all plots."""
        rows = [self.axes[i : i + self.columns] for i in range(0, self.count, self.columns)]
        lefts, rights = [0.6] * self.columns, [0.05] * self.columns
        names = {ax: (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()) for ax in self.axes}
        for _ in range(3):
            free = self.width - 2 * _EDGE - _GAP * (self.columns - 1) - sum(lefts) - sum(rights)
            wide = max(free / self.columns, 0.5)
            for row, height in zip(rows, self.heights, strict=True):
                for ax in row:
                    ax.set_position((0, 0, wide / self.width, height / self.fig.get_figheight()))
                    self._words(ax, names[ax], wide, height)
            pads = {ax: self._pads(ax) for ax in self.axes}
            for column in range(self.columns):
                those = [row[column] for row in rows if column < len(row)]
                lefts[column] = max(pads[ax][0] for ax in those)
                rights[column] = max(pads[ax][2] for ax in those)
        self._place(rows, pads, lefts, wide, handles() if handles else {}, (heading, note))
        return self.fig

    def _place(
        self, rows: Sequence[Sequence[Axes]], pads: Mapping[Axes, tuple[float, float, float, float]],
        lefts: Sequence[float], wide: float, handles: Mapping[str, Any],
        texts: tuple[str, str],
    ) -> None:  # fmt: skip
        legend = self._legend(handles) if len(handles) > 1 else 0.0
        heading = self.wrapped(texts[0], self.width - 2 * _EDGE, 8.0, "bold")
        said = self.wrapped(texts[1], self.width - 2 * _EDGE, _SMALL)
        above, below = 0.16 * len(heading.splitlines()), 0.11 * len(said.splitlines())
        tops = [max(pads[ax][3] for ax in row) for row in rows]
        bottoms = [max(pads[ax][1] for ax in row) for row in rows]
        height = (
            2 * _EDGE + legend + above + below + sum(self.heights) + sum(tops) + sum(bottoms) + _GAP * (len(rows) - 1)
        )
        self.fig.set_size_inches(self.width, height)
        rights = [max(pads[row[c]][2] for row in rows if c < len(row)) for c in range(self.columns)]
        y = height - _EDGE - above - legend
        for row, own, top, bottom in zip(rows, self.heights, tops, bottoms, strict=True):
            y -= top + own
            x = _EDGE
            for column, ax in enumerate(row):
                x += lefts[column]
                ax.set_position((x / self.width, y / height, wide / self.width, own / height))
                x += wide + rights[column] + _GAP
            y -= bottom + _GAP
        for one in self.fig.legends:
            one.set_bbox_to_anchor((_EDGE / self.width, 1 - (_EDGE + above) / height), transform=self.fig.transFigure)
        if heading:
            x, y = _EDGE / self.width, 1 - _EDGE / height
            self.fig.text(x, y, heading, ha="left", va="top", fontsize=8, fontweight="bold", linespacing=1.2)
        if said:
            x, y = 1 - _EDGE / self.width, 0.6 * _EDGE / height
            self.fig.text(x, y, said, ha="right", va="bottom", fontsize=_SMALL, linespacing=1.1)

    def _words(self, ax: Axes, names: tuple[str, str, str], wide: float, height: float) -> None:
        title, across, up = names
        size = _SIZE
        ax.set_title(self.wrapped(title, wide, size, weight="bold"), loc="left")
        ax.set_xlabel(self.wrapped(across, wide, size))
        ax.set_ylabel(self.wrapped(up, height, size))
        if ax in self.fits:
            self.fits[ax](wide)

    def _pads(self, ax: Axes) -> tuple[float, float, float, float]:
        """Room that texts take left, below, right of and above the plot."""
        outer, inner, dpi = ax.get_tightbbox(self._renderer()), ax.bbox, self.fig.dpi
        if outer is None:
            return 0.0, 0.0, 0.0, 0.0
        found = (inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1)
        left, low, right, high = (max(one, 0) / dpi * _SAFE for one in found)
        return left, low, right, high

    def _renderer(self) -> Any:
        return cast(Any, self._canvas).get_renderer()

    def _legend(self, handles: Mapping[str, Any]) -> float:
        """Draw the legend, in as many columns as find room; returns its height."""
        size, room = _SIZE, self.width - 2 * _EDGE
        labels = [self.shortened(label, room - _HANDLE, size) for label in handles]
        widths = [self.measured(label, size) + _HANDLE for label in labels]
        columns = len(labels)
        while columns > 1:
            # As matplotlib distributes a legend's entries; columns that leave a row with few are not taken.
            is_even = columns == ceil(len(labels) / ceil(len(labels) / columns))
            if is_even and sum(max(part) + 0.1 for part in np.array_split(widths, columns)) <= room:
                break
            columns -= 1
        signs: list[Artist] = list(handles.values())
        legend = self.fig.legend(
            signs, labels, loc="upper left", ncols=columns, borderaxespad=0, borderpad=0, handlelength=2.2,
            handletextpad=0.5, columnspacing=1.0, fontsize=size,
        )  # fmt: skip
        return float(legend.get_window_extent(self._renderer()).height) / self.fig.dpi * _SAFE + 0.08

    def measured(self, text: str, size: float, weight: str = "normal") -> float:
        """The width of the widest line of a text."""
        font = FontProperties(size=size, weight=weight)
        renderer = self._renderer()
        widths = (renderer.get_text_width_height_descent(line, font, False)[0] for line in text.split("\n"))
        return max(widths, default=0.0) / self.fig.dpi * _SAFE

    def wrapped(self, text: str, room: float, size: float, weight: str = "normal") -> str:
        """The text in lines that find room; a word that finds none is shortened."""
        if not text or self.measured(text, size, weight) <= room:
            return text
        lines: list[str] = []
        for word in text.split():
            both = f"{lines[-1]} {word}" if lines else word
            if lines and self.measured(both, size, weight) <= room:
                lines[-1] = both
            else:
                lines.append(self.shortened(word, room, size, weight))
        return "\n".join(lines)

    def shortened(self, text: str, room: float, size: float, weight: str = "normal") -> str:
        """The text, without its middle if it is too long."""
        text = brief(text)
        while len(text) > 3 and self.measured(text, size, weight) > room:
            text = brief(text, len(text) - 1)
        return text

    def numbers(self, ax: Axes, at: Sequence[float], texts: Sequence[str]) -> None:
        """Ticks at numbers of the horizontal axis: all, or those whose texts find room; of a linear axis round ones."""

        def chosen(at: Sequence[float], texts: Sequence[str], wide: float) -> dict[float, str]:
            low, high = ax.transData.transform([(ax.get_xlim()[0], 0), (ax.get_xlim()[1], 0)])[:, 0]
            spans = []
            for value, text in zip(at, texts, strict=True):
                place = (ax.transData.transform((value, 0))[0] - low) / ((high - low) or 1) * wide
                half = self.measured(text, _SIZE) / 2 + _APART / 2
                spans.append((place - half, place + half))
            return {at[i]: texts[i] for i in apart(spans)}

        def fit(wide: float) -> None:
            known = chosen(at, texts, wide)
            if len(known) < len(at) and ax.get_xscale() == "linear":
                low, high = ax.get_xlim()
                even = [
                    float(one)
                    for one in MaxNLocator(_MOST_TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
                    if low <= one <= high
                ]
                known = chosen(even, [f"{one:,.10g}" for one in even], wide)
            ax.xaxis.set_major_locator(FixedLocator(sorted(known)))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: known.get(value, "")))

        self.fits[ax] = fit

    def categories(self, ax: Axes, texts: Sequence[str], rotation: float = 90) -> None:
        """Ticks at 0, 1, 2, ...: side by side, in lines, or turned."""
        ax.set_xticks(range(len(texts)), list(texts))
        ax.tick_params(axis="x", length=0)

        def fit(wide: float) -> None:
            low, high = sorted(ax.get_xlim())
            slot = wide / ((high - low) or 1) - _APART
            size = _SIZE
            lines = [self.wrapped(brief(text), slot, size) if " " in text else brief(text) for text in texts]
            if all(self.measured(one, size) <= slot and one.count("\n") < 3 and "…" not in one for one in lines):
                ax.set_xticks(range(len(texts)), lines, rotation=0, ha="center", fontsize=size)
                return
            # A line of turned text is as high as its letters.
            size = max(3.0, min(size, 72 * (slot + _APART) / 1.35))
            short = [self.shortened(text, 1.4, size) for text in texts]
            ax.set_xticks(range(len(texts)), short, rotation=rotation, ha="center", va="top", fontsize=size)

        self.fits[ax] = fit


def are_apart(sizes: Iterable[float], times: float = MOST_APART) -> bool:
    """True if plots with these largest values have a vertical axis each: small ones would be flat lines. A plot of
    nothing but 0 does not count."""
    known = [size for size in sizes if size > 0]
    return bool(known) and max(known) > times * min(known)


def brief(text: str, most: int = _MOST_IN_NAME) -> str:
    """A text in one line, without its middle if it is longer than that."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    kept = max(most - 1, 2)
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def apart(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of spans, in order, that don't overlap: the last and the first, and of the others as many as a regular
    step leaves room for."""
    count = len(spans)
    for step in range(1, count):
        kept = list(range(0, count, step))
        if kept[-1] != count - 1:
            kept = [*(i for i in kept if spans[i][1] <= spans[-1][0]), count - 1]
        if all(spans[a][1] <= spans[b][0] for a, b in pairwise(kept)):
            return kept
    return [count - 1] if count else []
