"""Panels of a run's picture: one function a kind of picture, each from a run to a figure."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

import dumbbell

BLUE, ORANGE, GREY, DARK = "#0072b2", "#d55e00", "#d9dee3", "#1f2933"
FLOWS = [BLUE, ORANGE, "#009e73"]
mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 100})

BIN_NS = 100_000_000


def _axes(y: str, x: str = "time [s]", height: float = 2.3) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def _legend(figure: Figure, axes: Axes) -> None:
    """Above the axes, where no data are."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", frameon=False, ncols=4, markerscale=2)


def _over(run: dumbbell.Run) -> pl.DataFrame:
    """Passages over the bottleneck, by arrival."""
    here = run.packets.filter(pl.col("link") == "bottleneck")
    return here.with_columns(seconds=pl.col("arrival_ns") / 1e9).sort("arrival_ns")


def rate(run: dumbbell.Run) -> Figure:
    """Rate that was delivered in each tenth of a second, and the rate that was possible."""
    figure, axes = _axes("rate [Mbit/s]")
    links = run.links.filter(pl.col("link") == "bottleneck").sort("time_ns")
    bins = links.group_by_dynamic("time_ns", every=f"{BIN_NS}i").agg(pl.col("capacity_bytes", "departed_bytes").first())
    seconds = bins["time_ns"].to_numpy()[:-1] / 1e9
    for column, words, colour, width in (
        ("capacity_bytes", "capacity", GREY, 4.0),
        ("departed_bytes", "sent", BLUE, 1.4),
    ):
        if bins[column].null_count() == 0:
            axes.step(
                seconds,
                np.diff(bins[column].to_numpy()) * 8e9 / BIN_NS / 1e6,
                color=colour,
                lw=width,
                where="post",
                label=words,
            )
    axes.set_ylim(0)
    _legend(figure, axes)
    return figure


def goodput(run: dumbbell.Run) -> Figure:
    """Rate without the overhead: whole frames, against the configured rate."""
    figure, axes = _axes("rate [Mbit/s]")
    out = _over(run).filter(pl.col("fate") == "delivered").sort("departure_ns")
    bins = out.group_by_dynamic("departure_ns", every=f"{BIN_NS}i").agg(pl.col("size_bytes").sum())
    configured = next(link.rate_bps for link in run.plan.links if link.name == "bottleneck")
    axes.axhline(configured / 1e6, color=GREY, lw=4, label="rate of the link")
    axes.plot(bins["departure_ns"] / 1e9, bins["size_bytes"] * 8e9 / BIN_NS / 1e6, color=BLUE, label="frames")
    axes.set_ylim(0)
    _legend(figure, axes)
    return figure


def delay(run: dumbbell.Run) -> Figure:
    """One-way delay of each packet over the link."""
    figure, axes = _axes("delay [ms]")
    packets = _over(run).filter(pl.col("fate") == "delivered")
    overtook = packets["reordered"].is_not_null()
    milliseconds = (packets["delivery_ns"] - packets["arrival_ns"]) / 1e6
    kept = packets["seconds"].filter(~overtook)
    axes.plot(kept, milliseconds.filter(~overtook), ".", ms=2.5, color=BLUE, label="kept their place")
    if overtook.any():
        axes.plot(
            packets["seconds"].filter(overtook),
            milliseconds.filter(overtook),
            ".",
            ms=2.5,
            color=ORANGE,
            label="overtook others",
        )
        _legend(figure, axes)
    axes.set_ylim(0)
    return figure


def strip(run: dumbbell.Run) -> Figure:
    """A cell for each of the first thousand packets, in rows of a hundred."""
    packets = _over(run).head(1000)
    lost = packets["fate"].cast(pl.String).is_in(["lost-before", "lost-after"])
    kinds = np.zeros(1000)
    kinds[: len(packets)] = np.where(lost, 1, np.where(packets["duplicate"], 2, np.where(packets["corrupted"], 3, 0)))
    figure, axes = _axes("rows of 100 packets", "packet", 1.9)
    axes.pcolormesh(
        kinds.reshape(10, 100),
        cmap=ListedColormap([GREY, DARK, BLUE, ORANGE]),
        vmin=0,
        vmax=3,
        edgecolors="white",
        linewidth=0.6,
    )
    axes.invert_yaxis()
    axes.set_yticks([])
    whole = _over(run)
    shares = {
        "lost": whole["fate"].cast(pl.String).is_in(["lost-before", "lost-after"]).mean(),
        "duplicates (blue)": whole["duplicate"].mean(),
        "corrupted (orange)": whole["corrupted"].mean(),
    }
    shown = [f"{share:.2%} {words}" for words, share in shares.items() if share or words == "lost"]
    axes.set_title(f"of {len(whole)} packets " + ", ".join(shown), fontsize=9, loc="left")
    return figure


def queue(run: dumbbell.Run) -> Figure:
    """Each packet's wait in the queue, drops and marks."""
    figure, axes = _axes("wait [ms]")
    packets = _over(run).with_columns(wait=pl.col("sojourn_ns") / 1e6)
    passed = packets.filter(pl.col("departure_ns").is_not_null())
    for flow, colour in zip([flow.id for flow in run.plan.flows], FLOWS, strict=False):
        mine = passed.filter(pl.col("flow") == flow)
        axes.plot(mine["seconds"], mine["wait"], ".", ms=1.8, color=colour, label=flow)
    top = max(passed["wait"].max() or 1, 1) * 1.1
    drops = packets.filter(pl.col("fate").cast(pl.String).str.starts_with("dropped"))
    marks = packets.filter(pl.col("mark").is_not_null())
    axes.plot(drops["seconds"], [top] * len(drops), "x", ms=4, color=DARK, label=f"{len(drops)} drops")
    if len(marks):
        axes.plot(
            marks["seconds"],
            [top * 0.94] * len(marks),
            "o",
            ms=3,
            mfc="none",
            color="#009e73",
            label=f"{len(marks)} marks",
        )
    axes.set_ylim(0, top * 1.05)
    _legend(figure, axes)
    return figure


PANELS: dict[str, Callable[[dumbbell.Run], Figure]] = {
    **dict.fromkeys(["rate-steps", "rate-ramp", "rate-csv", "rate-trace", "policer", "delay-line", "flap"], rate),
    **dict.fromkeys([f"jitter-{kind}" for kind in ("uniform", "normal", "pareto", "table", "correlated")], delay),
    **dict.fromkeys(["slots", "reorder", "delay-events"], delay),
    **dict.fromkeys(
        [f"loss-{kind}" for kind in ("independent", "correlated", "netem", "gilbert-elliott", "four-state")], strip
    ),
    **dict.fromkeys(["loss-burst", "loss-periodic", "loss-trace", "duplicate-corrupt"], strip),
    **dict.fromkeys(
        [f"queue-{kind}" for kind in ("drop-tail", "drop-head", "threshold", "red", "ared", "codel", "pie")], queue
    ),
    **dict.fromkeys(["queue-fq-codel", "queue-fq", "queue-cake", "queue-dualpi2"], queue),
    **dict.fromkeys(["mark", "whole-bursts", "events"], queue),
    "overhead": goodput,
}
"""Panel of each example, by its name."""
