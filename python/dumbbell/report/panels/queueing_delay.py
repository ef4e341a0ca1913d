"""Queueing delay at links whose bytes don't give it: another discipline, a rate that changes, slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.plan.types import Link, Queue, ThresholdSojourn
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import envelope
from dumbbell.report.definition import OfTables
from dumbbell.report.events import left_queue_ns
from dumbbell.report.facts import MOST_LINKS, bytes_tell_delay
from dumbbell.report.levels import split
from dumbbell.report.model import Group, Line, Panel, Reference, View
from dumbbell.report.source import Source
from dumbbell.report.spread import Spread


def _panel(source: Source) -> Panel | None:
    """A view per link, with a curve per flow; `None` if the queues' bytes tell all."""
    if not source.run.has("packets"):
        return None
    links = source.known.limited_links[:MOST_LINKS]
    others = [link for link in links if not bytes_tell_delay(source.known, link)]
    if source.has_too_many_flows:
        views = [view for link in others if (view := _of_kinds(source, link)) is not None]
        shown = Spread.quantities("sojourn_ms")
    else:
        views = [view for link in others if (view := _view(source.run, link, source.groups)) is not None]
        shown = ()
    if not views:
        return None
    return Panel("sojourn_ms", 1.0, "Queueing delay", "ms", tuple(views), quantities=shown, choice="Link")


def _view(run: Run, link: Link, groups: Sequence[Group]) -> View | None:
    """The view in ms, a line per flow."""
    left = run.scan("packets").filter((pl.col("link") == link.name) & pl.col("departure_ns").is_not_null())
    rows = left.select(
        time_ns=left_queue_ns(),
        flow=pl.col("flow").cast(pl.String),
        v=pl.col("sojourn_ns") / 1e6,
    ).collect()
    if rows.is_empty():
        return None
    flows = [flow for group in groups for flow in group.flows]
    aligned = envelope(rows, flows, run.plan.duration_ns)
    # Every view has all flows: the page changes the link under the same curves.
    lines = tuple(Line(aligned.line(flow), index, flow) for index, group in enumerate(groups) for flow in group.flows)
    width = words.seconds((aligned.width_ns or 0) / 1e9)
    note = f"How long packets waited at {link.name}, as they left its queue. Drawn from "
    note += f"{words.count(rows.height, 'packet')}: min and max of each {width}."
    references, far = split(_levels(link.queue), float(rows["v"].max() or 0))  # type: ignore[arg-type]
    return View(link.name, aligned.frame["time_ns"] / 1e9, lines, note + far, references)


def _of_kinds(source: Source, link: Link) -> View | None:
    """The view in ms of thousands of flows: how the packets of each kind fared."""
    many = source.many
    left = source.run.scan("packets").filter((pl.col("link") == link.name) & pl.col("departure_ns").is_not_null())
    n = left.select(pl.len()).collect().item()
    parts = many.parts(left.select("arrival_ns", "flow", v=pl.col("sojourn_ns") / 1e6), "arrival_ns", n)
    found = many.spread(part.select("flow", "v", many.slot("arrival_ns")) for part in parts)
    if found is None:
        return None
    note = found.note(f"How long packets waited at {link.name} that arrived", "packets")
    references, far = split(_levels(link.queue), found.largest)
    return View(link.name, found.time_ns / 1e9, found.marks(source.groups, 1.0), note + far, references)


def _levels(queue: Queue) -> list[Reference]:
    found = {
        "target": getattr(queue, "target_ns", None),
        "min_th": getattr(queue, "min_th_ns", None),
        "threshold": getattr(queue, "ce_threshold_ns", None),
    }
    match getattr(queue, "ce_threshold", None):
        case ThresholdSojourn(sojourn=wait):
            found["threshold"] = wait
    return [Reference(ns / 1e6, f"{name} {words.seconds(ns / 1e9)}") for name, ns in found.items() if ns]


PANEL: Final = OfTables(70, "Queueing delay", _panel)
