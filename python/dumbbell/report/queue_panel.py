"""The panel of queues: one view per link with a rate, in bytes and in ms."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import Thinned, extremes, round_width_ns
from dumbbell.report.facts import Facts, Link, buffer_bytes
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Panel, Reference, SecondAxis, View

MOST_LINKS: Final = 24
_MARKS: Final = 2000


def panel(run: Run, known: Facts) -> Panel | None:
    """Queues of the rate-limited links that carried anything, the bottleneck first; `None` if none did."""
    views = [view for link in known.limited_links[:MOST_LINKS] if (view := _view(run, link)) is not None]
    if not views:
        return None
    factor, unit = words.size_unit(max(_top(view) for view in views))
    return Panel("queue_bytes", factor, "Queue", unit, tuple(_scaled(view, factor) for view in views))


def _view(run: Run, link: Link) -> View | None:
    """In bytes."""
    span = run.plan["duration_ns"]
    if run.has("packets"):
        packets = run.scan("packets").filter(pl.col("link") == link["name"])
        queued = packets.filter(pl.col("fate") != "lost-before")
        n = queued.select(pl.len()).collect().item()
        thinned = extremes(queued, "arrival_ns", "queue_bytes", span)
        note = _note(thinned, n, f"The queue as each packet found it at {link['name']}")
        dropped = packets.filter(pl.col("fate") == "dropped-tail").select(t="arrival_ns")
    else:
        rows = run.scan("links").filter(pl.col("link") == link["name"])
        n = rows.select(pl.len()).collect().item()
        thinned = extremes(rows, "time_ns", "queue_bytes_max", span)
        interval = words.seconds(run.plan["record"]["sample_interval_ns"] / 1e9)
        note = f"The largest queue at {link['name']} in each {interval}; there is no record of packets."
        dropped = rows.sort("time_ns").filter(pl.col("dropped_packets").diff() > 0).select(t="time_ns")
    if n == 0:
        return None
    width = round_width_ns(span / _MARKS)
    marks = dropped.group_by(pl.col("t") // width).agg(first=pl.col("t").min()).select(pl.col("first").sort()).collect()
    limit = buffer_bytes(link)
    top = float(thinned.values.max() or 0)  # type: ignore[arg-type]
    levels = [Reference(limit, f"buffer {words.size(limit)}")] if limit is not None else []
    references, far = split(levels, top)
    return View(
        link["name"],
        thinned.time_ns / 1e9,
        (Line(thinned.values.cast(pl.Float64), None),),
        note + far,
        references,
        SecondAxis("ms", 8e3 / link["rate_bps"]),
        marks["first"] / 1e9,
    )


def _note(thinned: Thinned, n: int, what: str) -> str:
    if thinned.width_ns is None:
        return f"{what}: {words.count(n, 'packet')}."
    return (
        f"{what}. Drawn from {words.count(n, 'packet')}: min and max of each {words.seconds(thinned.width_ns / 1e9)}."
    )


def _top(view: View) -> float:
    return max([float(line.values.max() or 0) for line in view.lines] + [r.value for r in view.references])  # type: ignore[arg-type]


def _scaled(view: View, factor: float) -> View:
    assert view.second is not None
    return View(
        view.name,
        view.time_s,
        tuple(Line(line.values / factor, line.group) for line in view.lines),
        view.note,
        tuple(Reference(r.value / factor, r.label) for r in view.references),
        SecondAxis(view.second.unit, view.second.factor * factor),
        view.marks_s,
    )
