"""Figures of the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benches.bbr.runs import COLOURS, NAMES, PICTURES

mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9})

Points = Sequence[tuple[float, float]]


def axes(n: int) -> tuple[Figure, list[Axes]]:
    """`n` panels side by side."""
    figure = Figure(figsize=(4.2 if n == 1 else 8.4, 2.9), layout="constrained")
    return figure, list(figure.subplots(1, n, squeeze=False)[0])


def lines(panel: Axes, of: Mapping[str, Points], joined: bool = True) -> None:
    """A line an algorithm, with a point at each measurement."""
    for cc, points in of.items():
        style = {"ls": "-" if joined else "", "marker": "o", "ms": 3.5, "lw": 1.4}
        panel.plot(*zip(*points, strict=True), color=COLOURS[cc], label=NAMES[cc], **style)
    panel.grid(True, axis="y", color="#e5e7eb", lw=0.6)


def log_x(panel: Axes, label: str, ticks: Sequence[float]) -> None:
    """A logarithmic axis with numbers at `ticks`, written out."""
    panel.set_xscale("log")
    panel.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    panel.set_xlabel(label)


def save(figure: Figure, name: str, legend_columns: int | None = None) -> None:
    """Write docs/images/bbr/NAME.png."""
    legend: dict[str, object] = {}
    for panel in figure.axes:
        legend.update({str(label): handle for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)})
    figure.legend(
        list(legend.values()),
        list(legend),
        loc="outside upper right",
        frameon=False,
        ncols=legend_columns or len(legend),
    )
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=110, metadata={"Software": ""})
    print(path)
