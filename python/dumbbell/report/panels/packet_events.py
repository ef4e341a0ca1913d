"""Drops by reason, losses, ECN marks and retransmissions: for each group of flows a lane of ticks for each kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from dumbbell.errors import DumbbellError
from dumbbell.report.definition import OfTables
from dumbbell.report.events import Kind, RunEvents, events
from dumbbell.report.model import Group, Lane, Panel, Ticks, View
from dumbbell.report.source import Source


def _panel(source: Source) -> Panel | None:
    """The panel; `None` if there were no packet events."""
    try:
        found = events(source.run, source.groups, _samples(source))
    except DumbbellError:
        # Other panels report missing samples; drops are in another table.
        found = events(source.run, source.groups, None)
    if not found.events:
        return None
    lanes = _lanes(found, source.groups)
    place = {(lane.key, lane.group): index for index, lane in enumerate(lanes)}
    ticks = tuple(Ticks(one.time_s, one.count, place[one.kind, one.group]) for one in found.events)
    view = View("", pl.Series([], dtype=pl.Float64), ticks, found.note, lanes=lanes)
    return Panel("events", 1.0, PANEL.title, "", (view,))


def _samples(source: Source) -> Iterable[pl.DataFrame]:
    return source.many.samples(["retransmitted_segments"]) if source.has_too_many_flows else [source.samples.rows]


def _lanes(events: RunEvents, groups: tuple[Group, ...]) -> tuple[Lane, ...]:
    """The lanes: for each group the kinds that are known of single flows; then the kinds without a known flow."""
    per_flow = [kind for kind in events.kinds if kind.key in events.per_flow]
    lanes = [
        _lane(kind, group.label.split()[0] if len(group.flows) == 1 else group.label, index)
        for index, group in enumerate(groups)
        for kind in per_flow
    ]
    others = [kind for kind in events.kinds if any(one.kind == kind.key and one.group is None for one in events.events)]
    name = "other" if any(kind in others for kind in per_flow) else "any flow"
    return (*lanes, *(_lane(kind, name, None) for kind in others))


def _lane(kind: Kind, name: str, group: int | None) -> Lane:
    return Lane(kind.key, name, group, kind.word, kind.pale)


PANEL: Final = OfTables(100, "Packet events", _panel, frozenset(("time_ns", "socket", "retransmitted_segments")))
