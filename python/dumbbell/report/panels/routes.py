"""The number of routes that each router's daemons have put into its kernel, and when routes changed."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.definition import OfTables
from dumbbell.report.facts import MOST_LINKS
from dumbbell.report.model import Line, Panel, Ticks, View
from dumbbell.report.source import Source

_ALL: Final = "all routers"
_MOST_TICKS: Final = 2000


def _panel(source: Source) -> Panel | None:
    """The sum of all routers and a view of each; `None` if no router has daemons."""
    if not source.run.has("routes"):
        return None
    rows = route_changes(source.run.scan("routes").collect())
    if rows.is_empty():
        return None
    routers = rows["router"].unique(maintain_order=True).sort().to_list()
    views = [routes_view(_ALL, rows, source.span_ns)]
    views += [routes_view(router, rows.filter(router=router), source.span_ns) for router in routers[:MOST_LINKS]]
    shown = tuple(views) if len(routers) > 1 else tuple(views[1:])
    return Panel("routes", 1.0, PANEL.title, "", shown, choice="Router", decimals=0)


def route_changes(routes: pl.DataFrame) -> pl.DataFrame:
    """`time_ns`, `router` and `step`, by which the router has more routes: a row for each change of a route.

    A route with several next hops has a row for each of them in the table.
    """
    which = ["router", "prefix", "metric", "change"]
    routes = routes.with_columns(pl.col("router", "prefix", "change").cast(pl.String))
    is_next_hop = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in ("time_ns", *which))
    step = pl.col("change").replace_strict({"added": 1, "removed": -1, "replaced": 0}, return_dtype=pl.Int64)
    return routes.filter(~is_next_hop.fill_null(False)).select("time_ns", "router", step=step)


def routes_view(name: str, rows: pl.DataFrame, span_ns: int) -> View:
    """Returns the view of one router, or of all together."""
    before, during = rows.filter(pl.col("time_ns") <= 0), rows.filter(pl.col("time_ns").is_between(1, span_ns))
    first = before["step"].sum()
    times = during.group_by("time_ns", maintain_order=True).agg(pl.col("step").sum())
    counts = [first, *(first + times["step"].cum_sum())]
    values = pl.Series([*counts, counts[-1]], dtype=pl.Float64)
    time_s = pl.Series([0, *times["time_ns"], span_ns], dtype=pl.Float64) / 1e9
    ticks = Ticks((times["time_ns"] / 1e9).gather_every(max(1, -(-times.height // _MOST_TICKS))), edge="mark")
    waited = ""
    if before.height:
        waited = f"; the last one before the start was {words.seconds(-before['time_ns'].to_list()[-1] / 1e9)} earlier"
    said = words.count(during.height, "change")
    note = f"Routes in the kernel of {name} that its daemons know. Ticks: {said} during the run{waited}."
    if name == _ALL:
        note = f"Routes in the kernels of all routers that their daemons know. Ticks: {said} during the run{waited}."
    line = Line(values, None, name="routes", steps=True)
    return View(name, time_s, (line, *((ticks,) if times.height else ())), note)


PANEL: Final = OfTables(95, "Routes", _panel)
