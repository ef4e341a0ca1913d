"""The curves of runs: of each plot, one for each run and flow."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import polars as pl

from dumbbell.cc.names import title
from dumbbell.frozen import dataclass
from dumbbell.plan.network import network, peak_bps
from dumbbell.plan.parts import cc
from dumbbell.records import Run
from dumbbell.report.model import Line, Panel, Plots
from dumbbell.report.overlay import PLOTS
from dumbbell.report.series import build


@dataclass(frozen=True)
class Trace:
    """A quantity over time."""

    run: int
    """Index of its run."""
    flow: str
    """Label of its flow or link; empty for the only one of a run."""
    algorithm: str
    """The algorithm of its flow, or the only one of its run; empty if there are several."""
    time_s: pl.Series
    values: pl.Series
    """In the base unit of its panel's `key`."""
    holds: bool = False
    """A value holds until the next one."""
    low: pl.Series | None = None
    """Lower end of the interval of a mean over runs, as `high` is the upper one; null where one run has a value."""
    high: pl.Series | None = None
    most: float | None = None
    """Largest mean that is possible, in the unit of `values`: a goodput is at most what a path carries."""


@dataclass(frozen=True)
class Quantity:
    """A plot of all runs."""

    panel: Panel
    """Panel of a run: title and unit are the same in all, except for a prefix."""
    traces: tuple[Trace, ...]


def quantities(runs: Sequence[Run], plots: Sequence[str]) -> tuple[list[Quantity], float]:
    """The plots that some run has records of, and the longest duration in seconds."""
    wanted = [PLOTS[name] for name in plots]
    built = [build(run, wanted) for run in runs]
    found = []
    for name in wanted:
        panels = [
            (at, next((one for one in plots.panels if one.title == name), None)) for at, plots in enumerate(built)
        ]
        traces = [trace for at, one in panels if one is not None for trace in _traces(at, runs[at], built[at], one)]
        largest = max((one for _, one in panels if one is not None), key=lambda one: one.per_unit, default=None)
        if largest is not None and traces:
            found.append(Quantity(largest, tuple(traces)))
    return found, max(plots.duration_s for plots in built)


def _traces(at: int, run: Run, plots: Plots, panel: Panel) -> list[Trace]:
    """The first view's curves of the first quantity: the others are bounds and inputs of it."""
    view = panel.views[0]
    lines = [mark for mark in view.marks if isinstance(mark, Line) and not mark.is_level and mark.quantity == 0]
    of_flow = {flow.id: cc(flow) or flow.workload.kind for flow in run.plan.flows}
    every = set(of_flow.values())
    several = len({line.group for line in lines}) > 1
    most = _fastest_bps(run) if panel.title == PLOTS["goodput"] else None
    found = []
    for line in lines:
        group = None if line.group is None else plots.groups[line.group]
        own = {of_flow[flow] for flow in group.flows if flow in of_flow} if group else every
        algorithm = next(iter(own)) if len(own) == 1 else ""
        flow = ""
        if several and group is not None:
            name = line.flow or group.label
            flow = f"{name} {title(algorithm)}" if algorithm and algorithm not in name else name
        time_s = view.time_s if line.time_s is None else line.time_s
        found.append(Trace(at, flow, algorithm, time_s, line.values * panel.per_unit, line.steps, most=most))
    return found


def _fastest_bps(run: Run) -> float | None:
    """The rate of the fastest path of a flow; none if a path has no limit, or if routing daemons may choose others."""
    if run.has("routes"):
        return None
    known, fastest = network(run.plan), 0.0
    peaks = {name: [peak_bps(link) for _, link in history] for name, history in known.histories.items()}
    for flow in run.plan.flows:
        rates = [max(rate or inf for rate in peaks[link.name]) for link in known.there(flow)]
        fastest = max(fastest, min(rates, default=inf))
    return fastest if 0 < fastest < inf else None
