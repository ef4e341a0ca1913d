"""The plots as JSON for the page. Series are base64 of little-endian arrays: doubles for time, singles for values."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import polars as pl

from dumbbell.report.model import Events, Group, Panel, Plots, Reference, View


def payload(plots: Plots) -> str:
    """JSON that may stand inside a script element: no `<` in it."""
    content = {
        "duration": plots.duration_s,
        "groups": [_group(group) for group in plots.groups],
        "panels": [_panel(panel) for panel in plots.panels],
        "changes": [{"time": change.time_s, "label": change.label} for change in plots.changes],
        "kinds": [{"key": kind.key, "word": kind.word, "pale": kind.pale} for kind in plots.kinds],
        "events": [_events(events) for events in plots.events],
        "eventsNote": plots.events_note,
        "countedPerFlow": plots.counted_per_flow,
    }
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _group(group: Group) -> dict[str, Any]:
    colors = {"light": group.light, "dark": group.dark, "dash": group.dash}
    return {"label": group.label, "flows": len(group.flows)} | colors


def _panel(panel: Panel) -> dict[str, Any]:
    views = [_view(view) for view in panel.views]
    return {"key": panel.key, "title": panel.title, "unit": panel.unit, "fromZero": panel.from_zero, "views": views}


def _view(view: View) -> dict[str, Any]:
    return {
        "name": view.name,
        "time": _packed(view.time_s, "<f8"),
        "lines": [
            {"group": line.group, "flow": line.flow, "name": line.name, "level": line.is_level}
            | {"values": _packed(line.values, "<f4")}
            for line in view.lines
        ],
        "references": [_reference(reference) for reference in view.references],
        "second": {"unit": view.second.unit, "factor": view.second.factor} if view.second else None,
        "marks": [{"kind": marks.kind, "time": _packed(marks.time_s, "<f8")} for marks in view.marks],
        "note": view.note,
    }


def _reference(reference: Reference) -> dict[str, Any]:
    return {"value": reference.value, "label": reference.label}


def _events(events: Events) -> dict[str, Any]:
    packed = {"time": _packed(events.time_s, "<f8"), "count": _packed(events.count, "<f8")}
    return {"kind": events.kind, "group": events.group} | packed


def _packed(values: pl.Series, type_: str) -> str:
    """Null becomes NaN."""
    return b64encode(values.cast(pl.Float64).to_numpy().astype(type_).tobytes()).decode("ascii")
