"""The panel of routes over time."""

from __future__ import annotations

import polars as pl

from dumbbell.report.model import Line, Ticks
from dumbbell.report.panels.routes import route_changes, routes_view

S = 10**9
ROWS = [
    # Two next hops of one route are one change.
    (-2 * S, "r1", "10.1.0.0/16", 20, "added"),
    (-2 * S, "r1", "10.1.0.0/16", 20, "added"),
    (-1 * S, "r2", "10.2.0.0/16", 20, "added"),
    (3 * S, "r1", "10.1.0.0/16", 20, "removed"),
    (3 * S, "r2", "10.2.0.0/16", 20, "replaced"),
    (4 * S, "r1", "10.1.0.0/16", 20, "added"),
    (4 * S, "r1", "10.3.0.0/16", 20, "added"),
]
ROUTES = pl.DataFrame(ROWS, schema=["time_ns", "router", "prefix", "metric", "change"], orient="row")


def test_a_view_counts_routes_and_marks_their_changes() -> None:
    view = routes_view("r1", route_changes(ROUTES).filter(router="r1"), 10 * S)
    line, ticks = view.marks
    assert isinstance(line, Line)
    assert isinstance(ticks, Ticks)
    assert list(zip(view.time_s, line.values, strict=True)) == [(0, 1), (3, 0), (4, 2), (10, 2)]
    assert ticks.time_s.to_list() == [3, 4]
    assert "3 changes during the run; the last one before the start was 2 s earlier" in view.note


def test_all_routers_together() -> None:
    view = routes_view("all routers", route_changes(ROUTES), 10 * S)
    (line, _) = view.marks
    assert isinstance(line, Line)
    assert line.values.to_list() == [2, 1, 3, 3]
