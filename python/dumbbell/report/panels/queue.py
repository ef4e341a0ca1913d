"""The queue of each link with a rate: the bytes that wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import polars as pl

from dumbbell.plan.types import Link, ThresholdBytes
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import Thinned, extremes, round_width_ns
from dumbbell.report.definition import OfTables
from dumbbell.report.events import REASONS, left_queue_ns
from dumbbell.report.facts import MOST_LINKS, Facts, buffer_bytes, bytes_tell_delay
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Panel, Reference, SecondAxis, Ticks, View
from dumbbell.report.passages import at_links
from dumbbell.report.source import Source

_MARKS: Final = 2000
_MOST_PICTURED: Final = 6
"""The number of queues in a figure."""


def _panel(source: Source) -> Panel | None:
    """The rate-limited links that carried anything, the bottleneck first; `None` if there is none.

    The bytes of a plain FIFO that drains at a constant rate give the waiting time of packets: a second axis shows it in
    ms.
    """
    run, known = source.run, source.known
    links = known.limited_links[:MOST_LINKS]
    if run.has("packets"):
        columns = ("arrival_ns", "queue_bytes", "sojourn_ns", "departure_ns", "fate", "mark")
        found = (_queue(run, link, known, rows) for link, rows in at_links(run, links, columns))
    else:
        found = (_queue(run, link, known, None) for link in links)
    views = [view for view in found if view is not None]
    if not views:
        return None
    factor, unit = words.size_unit(max(_top(view) for view in views))
    scaled = tuple(_scaled(view, factor) for view in views)
    crossed = {link.name for link in known.crossed}
    # A reader of a figure can't choose: it shows the queues at which flows' data may wait.
    pictured = sum(view.name in crossed for view in views[:_MOST_PICTURED]) if known.has_several else 1
    return Panel(
        "queue_bytes", factor, "Queue", unit, scaled, choice="Link whose queue is shown", pictured=max(1, pictured)
    )


def _queue(run: Run, link: Link, known: Facts, rows: pl.DataFrame | None) -> View | None:
    """The queue in bytes. `rows`: the link's packets, if they are recorded."""
    span = run.plan.duration_ns
    if rows is not None:
        n, packets = rows.height, rows.lazy()
        thinned = extremes(packets, "arrival_ns", "queue_bytes", span)
        note = _note(thinned, n, f"The queue that each packet found at {link.name}")
        ticks, said = _ticks(packets, span)
        note += said
    else:
        links = run.scan("links").filter(pl.col("link") == link.name).sort("time_ns")
        n = links.select(pl.len()).collect().item()
        thinned = extremes(links, "time_ns", "queue_bytes_max", span)
        interval = words.seconds(run.plan.record.sample_interval_ns / 1e9)
        note = f"The largest queue at {link.name} in each {interval}; there is no record of packets."
        ticks = (
            Ticks(_sparse(_grew(links, "dropped_packets"), span), edge="drop"),
            Ticks(_sparse(_grew(links, "marked_packets"), span), edge="mark"),
        )
    if n == 0:
        return None
    top = float(thinned.values.max() or 0)  # type: ignore[arg-type]
    references, far = split(_levels_bytes(link), top)
    has_second = bytes_tell_delay(known, link) or (known.network.facts[link.name].is_steady and not run.has("packets"))
    return View(
        link.name,
        thinned.time_ns / 1e9,
        (Line(thinned.values.cast(pl.Float64), None, name="queue"), *(one for one in ticks if len(one.time_s))),
        note + far,
        references,
        SecondAxis("ms", 8e3 / link.rate_bps) if has_second and link.rate_bps else None,
    )


def _ticks(packets: pl.LazyFrame, span: int) -> tuple[tuple[Ticks, ...], str]:
    """Drops by the link itself, and ECN marks, as each packet left the queue or was refused; and how many, in words."""
    fate = pl.col("fate").cast(pl.String)
    dropped = packets.filter(fate.is_in([one for one in REASONS if one.startswith("dropped-")]))
    marked = packets.filter(pl.col("mark").is_not_null() & pl.col("departure_ns").is_not_null())
    reasons = dropped.group_by(fate).len().sort("len", descending=True).collect().iter_rows()
    said = words.listed(f"{words.count(n)} {REASONS[reason].word}" for reason, n in reasons)
    n_marked = marked.select(pl.len()).collect().item()
    note = f" Triangles: drops ({said})." if said else ""
    note += f" Ticks below: {words.count(n_marked, 'ECN mark')}." if n_marked else ""
    drops, marks = (_sparse(rows.select(t=left_queue_ns()), span) for rows in (dropped, marked))
    return (Ticks(drops, edge="drop"), Ticks(marks, edge="mark")), note


def _grew(rows: pl.LazyFrame, counter: str) -> pl.LazyFrame:
    return rows.filter(pl.col(counter).diff() > 0).select(t="time_ns")


def _sparse(times: pl.LazyFrame, span: int) -> pl.Series:
    """The first of `t` in each short interval, in seconds."""
    width = round_width_ns(span / _MARKS)
    first = times.group_by(pl.col("t") // width).agg(first=pl.col("t").min()).select(pl.col("first").sort())
    return first.collect()["first"] / 1e9


def _levels_bytes(link: Link) -> list[Reference]:
    """The buffer, and what a discipline goes by."""
    queue, limit = link.queue, buffer_bytes(link)
    levels = [] if limit is None else [Reference(limit, f"buffer {words.size(limit)}")]
    for key in ("min_th", "max_th"):
        if size := getattr(queue, f"{key}_bytes", None):
            levels.append(Reference(size, f"{key} {words.size(size)}"))
    match getattr(queue, "ce_threshold", None):
        case ThresholdBytes(bytes=size):
            levels.append(Reference(size, f"threshold {words.size(size)}"))
    return levels


def _note(thinned: Thinned, n: int, what: str) -> str:
    if thinned.width_ns is None:
        return f"{what}: {words.count(n, 'packet')}."
    return (
        f"{what}. Drawn from {words.count(n, 'packet')}: min and max of each {words.seconds(thinned.width_ns / 1e9)}."
    )


def _top(view: View) -> float:
    return max([float(line.values.max() or 0) for line in view.lines] + [r.value for r in view.references])  # type: ignore[arg-type]


def _scaled(view: View, factor: float) -> View:
    return replace(
        view,
        marks=tuple(replace(one, values=one.values / factor) if isinstance(one, Line) else one for one in view.marks),
        references=tuple(Reference(r.value / factor, r.label) for r in view.references),
        second=view.second and SecondAxis(view.second.unit, view.second.factor * factor),
    )


PANEL: Final = OfTables(60, "Queue", _panel)
