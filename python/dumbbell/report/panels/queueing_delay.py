"""Queueing delay at links whose bytes don't give it: another discipline, a rate that changes, slots.

Where data cross several limited links: on the whole path, and at each of them.
"""

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
from dumbbell.report.passages import at_links
from dumbbell.report.source import Source
from dumbbell.report.spread import Spread

_MOST_HOPS: Final = 8
"""Links whose delays are drawn beside those of the whole path."""
_WHOLE: Final = "whole path"


def _panel(source: Source) -> Panel | None:
    """A view per link, with a curve per flow; `None` if the queues' bytes tell all."""
    if not source.run.has("packets"):
        return None
    known = source.known
    crossed = {link.name for link in known.crossed[:_MOST_HOPS]} if known.has_several else ()
    links = known.limited_links[:MOST_LINKS]
    others = [link for link in links if link.name in crossed or not bytes_tell_delay(known, link)]
    if source.has_too_many_flows:
        views = [view for link in others if (view := _of_kinds(source, link)) is not None]
        shown = Spread.quantities("sojourn_ms")
    else:
        views = [] if (whole := _whole_path(source)) is None else [whole]
        columns, left = ("flow", "sojourn_ns", "arrival_ns", "departure_ns"), pl.col("departure_ns").is_not_null()
        found = (
            _view(source.run, link, rows, source.groups) for link, rows in at_links(source.run, others, columns, left)
        )
        views += [view for view in found if view is not None]
        shown = ()
    if not views:
        return None
    return Panel("sojourn_ms", 1.0, "Queueing delay", "ms", tuple(views), quantities=shown, choice="Link")


def _whole_path(source: Source) -> View | None:
    """The view in ms of the waits of packets at all links to the receiver; `None` if no flow crosses several."""
    run, known = source.run, source.known
    if not known.has_several:
        return None
    silent = known.network.transparent
    ways = {
        flow.id: [link.name for link in known.network.there(flow) if link.name not in silent] for flow in run.plan.flows
    }
    hops = [(flow, link, len(way)) for flow, way in ways.items() if len(way) > 1 for link in way]
    if not hops:
        return None
    wanted = pl.DataFrame(hops, schema={"flow": pl.String, "link": pl.String, "hops": pl.UInt32}, orient="row")
    passed = run.scan("packets").filter(pl.col("departure_ns").is_not_null(), ~pl.col("duplicate"))
    rows = (
        passed.select(pl.col("flow", "link").cast(pl.String), "packet", "sojourn_ns", time_ns=left_queue_ns())
        .join(wanted.lazy(), on=["flow", "link"])
        .group_by("flow", "packet")
        .agg(pl.col("time_ns").max(), pl.col("hops").first(), v=pl.col("sojourn_ns").sum() / 1e6, links=pl.len())
        .filter(pl.col("links") == pl.col("hops"))
        .select("time_ns", "flow", "v")
        .collect(engine="streaming")
    )
    what = "How long packets waited at all links from sender to receiver, as they left the last queue"
    return None if rows.is_empty() else _drawn(_WHOLE, what, rows, run, source.groups, [])


def _view(run: Run, link: Link, packets: pl.DataFrame, groups: Sequence[Group]) -> View | None:
    """The view in ms, a line per flow. `packets`: those that left the link."""
    rows = packets.select(
        time_ns=left_queue_ns(),
        flow=pl.col("flow").cast(pl.String),
        v=pl.col("sojourn_ns") / 1e6,
    )
    if rows.is_empty():
        return None
    what = f"How long packets waited at {link.name}, as they left its queue"
    return _drawn(link.name, what, rows, run, groups, _levels(link.queue))


def _drawn(
    name: str, what: str, rows: pl.DataFrame, run: Run, groups: Sequence[Group], levels: Sequence[Reference]
) -> View:
    """The view of `rows` with `time_ns`, `flow` and `v` in ms; `what` begins its note."""
    flows = [flow for group in groups for flow in group.flows]
    aligned = envelope(rows, flows, run.plan.duration_ns)
    # Every view has all flows: the page changes the link under the same curves.
    lines = tuple(Line(aligned.line(flow), index, flow) for index, group in enumerate(groups) for flow in group.flows)
    width = words.seconds((aligned.width_ns or 0) / 1e9)
    note = f"{what}. Drawn from {words.count(rows.height, 'packet')}: min and max of each {width}."
    references, far = split(levels, float(rows["v"].max() or 0))  # type: ignore[arg-type]
    return View(name, aligned.frame["time_ns"] / 1e9, lines, note + far, references)


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
