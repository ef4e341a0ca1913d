"""Draw the pictures of `docs/results/agreement-virtual.md` and `agreement-random.md` from their tables.

`python docs/draw/agreement.py`: each cell is a dot, its goodput's ratio with the 90 % interval, in the order of ratios.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

DOCS = Path(__file__).parents[1]
COLOURS = {"inside": "#0072b2", "undecided": "#999999", "outside": "#d55e00"}
BOUNDS = (0.97, 1.03)


def draw(name: str) -> None:
    """Draw `docs/images/NAME.png` from `docs/results/data/NAME.csv`."""
    table = pl.read_csv(DOCS / "results" / "data" / f"{name}.csv").drop_nulls("goodput_ratio_low").sort("goodput_ratio")
    figure = Figure(figsize=(9, 3), layout="constrained", dpi=110)
    axes = figure.subplots()
    for bound in BOUNDS:
        axes.axhline(bound, color="#444444", linewidth=0.8, linestyle="--")
    for status, colour in COLOURS.items():
        rows = table.with_row_index("place").filter(pl.col("agreement") == status)
        ratio = rows["goodput_ratio"]
        # Ends of intervals have a digit less than ratios.
        errors = [(ratio - rows["goodput_ratio_low"]).clip(0), (rows["goodput_ratio_high"] - ratio).clip(0)]
        label = f"{status} ({rows.height})"
        axes.errorbar(rows["place"], ratio, errors, fmt=".", color=colour, elinewidth=0.7, markersize=3, label=label)
    axes.set(ylim=(0.74, 1.16), xlabel="cells, by ratio", ylabel="goodput, simulated ÷ kernel")
    axes.legend(loc="upper left", frameon=False, ncols=3)
    figure.savefig(DOCS / "images" / f"{name}.png")


if __name__ == "__main__":
    for name in ("agreement-virtual", "agreement-random"):
        draw(name)
