"""The data behind each plot as CSV, one row per curve and time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import polars as pl

from dumbbell.records import Run
from dumbbell.report.model import Bars, Line, Panel, Plots, Points, States, Ticks, View
from dumbbell.report.series import build


def tables(run: Run) -> dict[str, bytes]:
    """File name -> content. The columns are `time_s`, what tells the curves apart (`link`, `flow`), and the value."""
    return tables_of(build(run))


def tables_of(plots: Plots) -> dict[str, bytes]:
    """The same of plots."""
    files: dict[str, bytes] = {}
    for panel in plots.panels:
        if panel.across is not None:
            files |= {f"{panel.key}.csv": _clouds(panel) if _has_points(panel) else _distributions(panel, plots)}
        elif any(isinstance(mark, States) for mark in panel.views[0].marks):
            files |= {f"{panel.key}.csv": _states(panel)}
        elif panel.views[0].lanes:
            files |= {f"{panel.key}.csv": _events(panel, plots)}
        else:
            files |= _quantities(panel)
        if any(isinstance(mark, Bars) for view in panel.views for mark in view.marks):
            files |= {f"{panel.key.removesuffix('_bytes')}_packets.csv": _bars(panel)}
    return files | ({"changes.csv": _changes(plots)} if plots.changes else {})


def _quantities(panel: Panel) -> dict[str, bytes]:
    """A file for each quantity."""
    curves = [(view, line) for view in panel.views for line in view.lines]
    keys = [quantity.key for quantity in panel.quantities] or [panel.key]
    parts = {key: [one for one in curves if one[1].quantity == index] for index, key in enumerate(keys)}
    return {f"{key}.csv": _curves(panel, key, part) for key, part in parts.items() if part}


def _curves(panel: Panel, key: str, curves: Sequence[tuple[View, Line | Points]]) -> bytes:
    """A level that changes is a column among the flows, under its name. The end of a bound is a row without a value."""
    of_links = any(view.name for view, _ in curves)
    of_flows = any(line.flow or line.group is not None for _, line in curves)
    parts = [
        pl.DataFrame({"time_s": view.time_s if line.time_s is None else line.time_s}).select(
            pl.col("time_s").round(9),
            *([pl.lit(view.name).alias("link")] if of_links else []),
            *([pl.lit(_name(line)).alias("flow")] if of_flows else []),
            (line.values * panel.per_unit).round(3).alias(key),
        )
        for view, line in curves
    ]
    first = curves[0][1]
    rows = pl.concat(parts)
    return (rows if isinstance(first, Line) and first.steps else rows.drop_nulls()).write_csv().encode()


def _bars(panel: Panel) -> bytes:
    """A row for each bar."""
    keys = {index: state.key for index, state in enumerate(panel.states)}
    parts = [
        pl.DataFrame({"time_s": mark.time_s}).select(
            pl.col("time_s").round(9),
            flow=pl.lit(mark.flow),
            what=pl.lit(mark.name),
            kind=(
                pl.lit(None, pl.String)
                if mark.state is None
                else mark.state.replace_strict(keys, default=None, return_dtype=pl.String)
            ),
            start=mark.low * panel.per_unit,
            end=mark.high * panel.per_unit,
        )
        for view in panel.views
        for mark in view.marks
        if isinstance(mark, Bars)
    ]
    return pl.concat(parts, how="vertical_relaxed").sort("time_s", maintain_order=True).write_csv().encode()


def _name(line: Line | Points) -> str:
    return line.flow or (line.name if isinstance(line, Line) else "")


def _states(panel: Panel) -> bytes:
    keys = {index: state.key for index, state in enumerate(panel.states)}
    (view,) = panel.views
    parts = [
        pl.DataFrame({"time_s": mark.start_s, "end_s": mark.end_s}).select(
            pl.all().round(9),
            flow=pl.lit(view.lanes[mark.lane].name),
            state=mark.state.replace_strict(keys, return_dtype=pl.String),
        )
        for mark in view.marks
        if isinstance(mark, States)
    ]
    return pl.concat(parts).sort("time_s").write_csv().encode()


def _clouds(panel: Panel) -> bytes:
    """A column for each view, whose points are of the same ACKs."""
    assert panel.across is not None
    keys = {index: state.key for index, state in enumerate(panel.states)}
    of_flows = [[mark for mark in view.marks if isinstance(mark, Points) and mark.flow] for view in panel.views]
    parts = []
    for points in zip_longest(*of_flows):
        first = points[0]
        assert first.x is not None
        columns = {
            view.key: (one.values * view.per_unit).round(3) for view, one in zip(panel.views, points, strict=True)
        }
        state = pl.Series([None] * len(first.time_s), dtype=pl.UInt8) if first.state is None else first.state
        parts.append(
            pl.DataFrame({"time_s": first.time_s.round(9)}).with_columns(
                flow=pl.lit(first.flow),
                state=state.replace_strict(keys, default=None, return_dtype=pl.String),
                **{panel.across.key: (first.x * pl.Series([panel.across.per_unit])).round(3)},
                **columns,
            )
        )
    return pl.concat(parts).sort("time_s").write_csv().encode()


def _has_points(panel: Panel) -> bool:
    return any(isinstance(mark, Points) for mark in panel.views[0].marks)


def _distributions(panel: Panel, plots: Plots) -> bytes:
    """A row for each point of each group's curve."""
    assert panel.across is not None
    (view,) = panel.views
    parts = [
        pl.DataFrame({panel.across.key: line.x}).select(
            flow=pl.lit(_flows(plots, line.group)),
            **{panel.across.key: (pl.col(panel.across.key) * panel.across.per_unit).round(3)},
            **{view.key: (line.values * view.per_unit).round(3)},
        )
        for line in view.marks
        if isinstance(line, Line) and line.group is not None
    ]
    return pl.concat(parts).write_csv().encode()


def _changes(plots: Plots) -> bytes:
    rows = [(change.time_s, change.link, change.words) for change in plots.changes]
    return pl.DataFrame(rows, schema=["time_s", "link", "change"], orient="row").write_csv().encode()


def _events(panel: Panel, plots: Plots) -> bytes:
    (view,) = panel.views
    parts = []
    for mark in view.marks:
        if not isinstance(mark, Ticks) or mark.lane is None:
            continue
        lane = view.lanes[mark.lane]
        flow = pl.lit(None if lane.group is None else _flows(plots, lane.group), pl.String)
        rows = pl.DataFrame({"time_s": mark.time_s}).select(
            pl.col("time_s").round(9), flow=flow, event=pl.lit(lane.key), count=pl.lit(1, pl.Int64)
        )
        parts.append(rows if mark.count is None else rows.with_columns(count=mark.count.cast(pl.Int64)))
    return pl.concat(parts).sort("time_s").write_csv().encode()


def _flows(plots: Plots, group: int) -> str:
    flows = plots.groups[group].flows
    return flows[0] if len(flows) == 1 else plots.groups[group].label
