"""The data behind each plot as CSV, one row per curve and time."""

from __future__ import annotations

import polars as pl

from dumbbell.records import Run
from dumbbell.report.model import Panel, Plots
from dumbbell.report.series import build


def tables(run: Run) -> dict[str, bytes]:
    """File name -> content. The columns are `time_s`, what tells the curves apart (`link`, `flow`), and the value."""
    plots = build(run)
    files = {f"{panel.key}.csv": _panel(panel) for panel in plots.panels}
    files |= {"events.csv": _events(plots)} if plots.events else {}
    return files | ({"changes.csv": _changes(plots)} if plots.changes else {})


def _panel(panel: Panel) -> bytes:
    """A level that changes stands among the flows, by its name."""
    of_links = any(view.name for view in panel.views)
    of_flows = any(line.flow for view in panel.views for line in view.lines)
    parts = [
        pl.DataFrame({"time_s": view.time_s}).select(
            pl.col("time_s").round(9),
            *([pl.lit(view.name).alias("link")] if of_links else []),
            *([pl.lit(line.flow or line.name).alias("flow")] if of_flows else []),
            (line.values * panel.per_unit).round(3).alias(panel.key),
        )
        for view in panel.views
        for line in view.lines
    ]
    return pl.concat(parts).drop_nulls().write_csv().encode()


def _changes(plots: Plots) -> bytes:
    rows = [(change.time_s, change.link, change.words) for change in plots.changes]
    return pl.DataFrame(rows, schema=["time_s", "link", "change"], orient="row").write_csv().encode()


def _events(plots: Plots) -> bytes:
    parts = [
        pl.DataFrame({"time_s": event.time_s}).select(
            pl.col("time_s").round(9),
            flow=pl.lit(None if event.group is None else _flows(plots, event.group), pl.String),
            event=pl.lit(event.kind),
            count=event.count,
        )
        for event in plots.events
    ]
    return pl.concat(parts).sort("time_s").write_csv().encode()


def _flows(plots: Plots, group: int) -> str:
    flows = plots.groups[group].flows
    return flows[0] if len(flows) == 1 else plots.groups[group].label
