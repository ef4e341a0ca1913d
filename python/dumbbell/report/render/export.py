"""The data behind each plot as CSV, one row per curve and time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dumbbell.records import Run
from dumbbell.report.model import Bands, Kleinrock, Line, Panel, Plots, View
from dumbbell.report.series import build


def tables(run: Run) -> dict[str, bytes]:
    """File name -> content. The columns are `time_s`, what tells the curves apart (`link`, `flow`), and the value."""
    plots = build(run)
    files: dict[str, bytes] = {}
    for panel in plots.panels:
        files |= _panel(panel)
    files |= {"bbr_state.csv": _states(plots.bands)} if plots.bands else {}
    files |= {"kleinrock.csv": _kleinrock(plots.kleinrock, plots.bands)} if plots.kleinrock else {}
    files |= {"events.csv": _events(plots)} if plots.events else {}
    return files | ({"changes.csv": _changes(plots)} if plots.changes else {})


def _panel(panel: Panel) -> dict[str, bytes]:
    """A file for each quantity."""
    curves = [(view, line) for view in panel.views for line in view.lines]
    keys = [quantity.key for quantity in panel.quantities] or [panel.key]
    parts = {key: [one for one in curves if one[1].quantity == index] for index, key in enumerate(keys)}
    return {f"{key}.csv": _curves(panel, key, part) for key, part in parts.items() if part}


def _curves(panel: Panel, key: str, curves: Sequence[tuple[View, Line]]) -> bytes:
    """A level that changes stands among the flows, by its name. The end of a bound is a row without a value."""
    of_links = any(view.name for view, _ in curves)
    of_flows = any(line.flow for _, line in curves)
    parts = [
        pl.DataFrame({"time_s": view.time_s if line.time_s is None else line.time_s}).select(
            pl.col("time_s").round(9),
            *([pl.lit(view.name).alias("link")] if of_links else []),
            *([pl.lit(line.flow or line.name).alias("flow")] if of_flows else []),
            (line.values * panel.per_unit).round(3).alias(key),
        )
        for view, line in curves
    ]
    ends = curves[0][1].steps
    rows = pl.concat(parts)
    return (rows if ends else rows.drop_nulls()).write_csv().encode()


def _states(bands: Bands) -> bytes:
    keys = {index: state.key for index, state in enumerate(bands.states)}
    parts = [
        pl.DataFrame({"time_s": lane.start_s, "end_s": lane.end_s}).select(
            pl.all().round(9),
            flow=pl.lit(lane.flow),
            state=lane.state.replace_strict(keys, return_dtype=pl.String),
        )
        for lane in bands.lanes
    ]
    return pl.concat(parts).sort("time_s").write_csv().encode()


def _kleinrock(plot: Kleinrock, bands: Bands | None) -> bytes:
    keys = {index: state.key for index, state in enumerate(bands.states)} if bands else {}
    parts = [
        pl.DataFrame({"time_s": cloud.time_s.round(9)}).with_columns(
            flow=pl.lit(cloud.flow),
            state=cloud.state.replace_strict(keys, default=None, return_dtype=pl.String),
            bytes_in_flight=cloud.inflight_bytes,
            delivery_rate_bps=cloud.rate_bps,
            rtt_ms=cloud.rtt_ms.round(3),
        )
        for cloud in plot.clouds
    ]
    return pl.concat(parts).sort("time_s").write_csv().encode()


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
