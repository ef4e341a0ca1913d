"""The panels of queues: one view per link with a rate, of the bytes that wait and of how long packets wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from dumbbell.analysis.history import History, is_steady
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import Thinned, envelope, extremes, round_width_ns
from dumbbell.report.events import REASONS, left_queue_ns
from dumbbell.report.facts import Facts, Link, buffer_bytes
from dumbbell.report.levels import split
from dumbbell.report.model import Group, Line, Marks, Panel, Reference, SecondAxis, View

MOST_LINKS: Final = 24
_MARKS: Final = 2000


def panels(run: Run, known: Facts, groups: Sequence[Group]) -> list[Panel]:
    """Queues of the rate-limited links that carried anything, the bottleneck first; those with an own delay panel last.

    Where a plain FIFO drains at a constant rate, its bytes tell how long packets wait: the queue has a second axis in
    ms. Elsewhere a panel of its own shows the packets' sojourn times, flow by flow.
    """
    links = known.limited_links[:MOST_LINKS]
    views = [view for link in links if (view := _queue(run, link, known.histories[link["name"]])) is not None]
    if not views:
        return []
    factor, unit = words.size_unit(max(_top(view) for view in views))
    drawn = [Panel("queue_bytes", factor, "Queue", unit, tuple(_scaled(view, factor) for view in views))]
    if run.has("packets"):
        others = [link for link in links if not _bytes_tell_delay(known.histories[link["name"]])]
        waits = [view for link in others if (view := _sojourn(run, link, groups)) is not None]
        drawn += [Panel("sojourn_ms", 1.0, "Queueing delay", "ms", tuple(waits))] if waits else []
    return drawn


def _bytes_tell_delay(history: History) -> bool:
    plain = all(link["queue"]["kind"] == "drop-tail" and link["slots"] is None for _, link in history)
    return plain and is_steady(history)


def _queue(run: Run, link: Link, history: History) -> View | None:
    """In bytes."""
    span = run.plan["duration_ns"]
    if run.has("packets"):
        packets = run.scan("packets").filter(pl.col("link") == link["name"])
        n = packets.select(pl.len()).collect().item()
        thinned = extremes(packets, "arrival_ns", "queue_bytes", span)
        note = _note(thinned, n, f"The queue as each packet found it at {link['name']}")
        marks, said = _marks(packets, span)
        note += said
    else:
        rows = run.scan("links").filter(pl.col("link") == link["name"]).sort("time_ns")
        n = rows.select(pl.len()).collect().item()
        thinned = extremes(rows, "time_ns", "queue_bytes_max", span)
        interval = words.seconds(run.plan["record"]["sample_interval_ns"] / 1e9)
        note = f"The largest queue at {link['name']} in each {interval}; there is no record of packets."
        marks = tuple(
            Marks(kind, _sparse(rows.filter(pl.col(f"{what}_packets").diff() > 0).select(t="time_ns"), span))
            for kind, what in (("drop", "dropped"), ("mark", "marked"))
        )
    if n == 0:
        return None
    top = float(thinned.values.max() or 0)  # type: ignore[arg-type]
    references, far = split(_levels_bytes(link), top)
    has_second = _bytes_tell_delay(history) or (is_steady(history) and not run.has("packets"))
    return View(
        link["name"],
        thinned.time_ns / 1e9,
        (Line(thinned.values.cast(pl.Float64), None, name="queue"),),
        note + far,
        references,
        SecondAxis("ms", 8e3 / link["rate_bps"]) if has_second else None,
        tuple(mark for mark in marks if len(mark.time_s)),
    )


def _marks(packets: pl.LazyFrame, span: int) -> tuple[tuple[Marks, ...], str]:
    """Drops by the link itself, and ECN marks, as each packet left the queue or was refused; and how many, in words."""
    fate = pl.col("fate").cast(pl.String)
    dropped = packets.filter(fate.str.starts_with("dropped-"))
    marked = packets.filter(pl.col("mark").is_not_null() & pl.col("departure_ns").is_not_null())
    reasons = dropped.group_by(fate).len().sort("len", descending=True).collect().iter_rows()
    said = words.listed(f"{words.count(n)} {REASONS[reason].word}" for reason, n in reasons)
    n_marked = marked.select(pl.len()).collect().item()
    note = f" Triangles: drops ({said})." if said else ""
    note += f" Ticks below: {words.count(n_marked, 'ECN mark')}." if n_marked else ""
    found = (("drop", dropped), ("mark", marked))
    return tuple(Marks(kind, _sparse(rows.select(t=left_queue_ns()), span)) for kind, rows in found), note


def _sparse(times: pl.LazyFrame, span: int) -> pl.Series:
    """The first of `t` in each short interval, in seconds."""
    width = round_width_ns(span / _MARKS)
    first = times.group_by(pl.col("t") // width).agg(first=pl.col("t").min()).select(pl.col("first").sort())
    return first.collect()["first"] / 1e9


def _sojourn(run: Run, link: Link, groups: Sequence[Group]) -> View | None:
    """In ms, a line per flow."""
    left = run.scan("packets").filter((pl.col("link") == link["name"]) & pl.col("departure_ns").is_not_null())
    rows = left.select(
        time_ns=left_queue_ns(),
        flow=pl.col("flow").cast(pl.String),
        v=pl.col("sojourn_ns") / 1e6,
    ).collect()
    if rows.is_empty():
        return None
    flows = [flow for group in groups for flow in group.flows]
    aligned = envelope(rows, flows, run.plan["duration_ns"])
    # All flows in every view: the page changes the link under the same curves.
    lines = tuple(Line(aligned.line(flow), index, flow) for index, group in enumerate(groups) for flow in group.flows)
    width = words.seconds((aligned.width_ns or 0) / 1e9)
    note = f"How long packets waited at {link['name']}, as they left its queue. Drawn from "
    note += f"{words.count(rows.height, 'packet')}: min and max of each {width}."
    references, far = split(_levels_ms(link["queue"]), float(rows["v"].max() or 0))  # type: ignore[arg-type]
    return View(link["name"], aligned.frame["time_ns"] / 1e9, lines, note + far, references)


def _levels_bytes(link: Link) -> list[Reference]:
    """The buffer, and what a discipline goes by."""
    queue, limit = link["queue"], buffer_bytes(link)
    levels = [] if limit is None else [Reference(limit, f"buffer {words.size(limit)}")]
    for key in ("min_th", "max_th"):
        if size := queue.get(f"{key}_bytes"):
            levels.append(Reference(size, f"{key} {words.size(size)}"))
    match queue.get("ce_threshold"):
        case {"bytes": size}:
            levels.append(Reference(size, f"threshold {words.size(size)}"))
    return levels


def _levels_ms(queue: Mapping[str, Any]) -> list[Reference]:
    found = {
        "target": queue.get("target_ns"),
        "min_th": queue.get("min_th_ns"),
        "threshold": queue.get("ce_threshold_ns"),
    }
    match queue.get("ce_threshold"):
        case {"sojourn": wait}:
            found["threshold"] = wait
    return [Reference(ns / 1e6, f"{name} {words.seconds(ns / 1e9)}") for name, ns in found.items() if ns]


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
        lines=tuple(replace(line, values=line.values / factor) for line in view.lines),
        references=tuple(Reference(r.value / factor, r.label) for r in view.references),
        second=view.second and SecondAxis(view.second.unit, view.second.factor * factor),
    )
