"""The plots as JSON for the page.

Series are base64 of little-endian arrays: doubles for time, singles for values. Times of ACKs are unsigned integers, 32
bits each, that count `tick` seconds: enough to tell any two apart, at half the length.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any, Final

import numpy as np
import polars as pl

from dumbbell.report.model import Bands, Cloud, Events, Group, Kleinrock, Limit, Line, Panel, Plots, Reference, View

_TICKS: Final = 2**32 - 1


def payload(plots: Plots) -> str:
    """JSON that may stand inside a script element: no `<` in it."""
    # Twice the duration: the last ACKs of a run come after its end.
    tick = 2 * plots.duration_s / _TICKS
    content = {
        "duration": plots.duration_s,
        "tick": tick,
        "groups": [_group(group) for group in plots.groups],
        "panels": [_panel(panel, tick) for panel in plots.panels],
        "changes": [{"time": change.time_s, "label": change.label} for change in plots.changes],
        "kinds": [{"key": kind.key, "word": kind.word, "pale": kind.pale} for kind in plots.kinds],
        "events": [_events(events) for events in plots.events],
        "eventsNote": plots.events_note,
        "countedPerFlow": plots.counted_per_flow,
        "bands": _bands(plots.bands, tick) if plots.bands else None,
        "kleinrock": _kleinrock(plots.kleinrock, tick) if plots.kleinrock else None,
    }
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _group(group: Group) -> dict[str, Any]:
    colors = {"light": group.light, "dark": group.dark, "dash": group.dash}
    return {"label": group.label, "flows": len(group.flows)} | colors


def _panel(panel: Panel, tick: float) -> dict[str, Any]:
    views = [_view(view, tick) for view in panel.views]
    quantities = [{"word": one.word, "look": one.look} for one in panel.quantities]
    said = {"key": panel.key, "title": panel.title, "unit": panel.unit, "fromZero": panel.from_zero}
    return said | {"quantities": quantities, "views": views}


def _view(view: View, tick: float) -> dict[str, Any]:
    return {
        "name": view.name,
        "time": _packed(view.time_s, "<f8"),
        "lines": [_line(line, tick) for line in view.lines],
        "references": [_reference(reference) for reference in view.references],
        "second": {"unit": view.second.unit, "factor": view.second.factor} if view.second else None,
        "marks": [{"kind": marks.kind, "time": _packed(marks.time_s, "<f8")} for marks in view.marks],
        "note": view.note,
        "top": view.top,
    }


def _line(line: Line, tick: float) -> dict[str, Any]:
    said = {"group": line.group, "flow": line.flow, "name": line.name, "level": line.is_level}
    own = {"quantity": line.quantity, "steps": line.steps, "ticks": _ticks(line.time_s, tick)}
    return said | ({} if line.time_s is None else own) | {"values": _packed(line.values, "<f4")}


def _reference(reference: Reference) -> dict[str, Any]:
    return {"value": reference.value, "label": reference.label}


def _events(events: Events) -> dict[str, Any]:
    packed = {"time": _packed(events.time_s, "<f8"), "count": _packed(events.count, "<f8")}
    return {"kind": events.kind, "group": events.group} | packed


def _bands(bands: Bands, tick: float) -> dict[str, Any]:
    states = [{"word": s.word, "light": s.light, "dark": s.dark, "height": s.height} for s in bands.states]
    lanes = [
        {"flow": lane.flow, "group": lane.group, "state": _bytes(lane.state)}
        | {"start": _ticks(lane.start_s, tick), "end": _ticks(lane.end_s, tick)}
        for lane in bands.lanes
    ]
    return {"states": states, "lanes": lanes, "note": bands.note}


def _kleinrock(plot: Kleinrock, tick: float) -> dict[str, Any]:
    return {
        "clouds": [_cloud(cloud, tick) for cloud in plot.clouds],
        "bdp": plot.bdp_bytes,
        "full": plot.full_bytes,
        "rateLimits": [_limit(limit) for limit in plot.rate_limits],
        "rttLimits": [_limit(limit) for limit in plot.rtt_limits],
        "topRate": plot.top_rate_bps,
        "topRtt": plot.top_rtt_ms,
        "bottomRtt": plot.bottom_rtt_ms,
        "right": plot.right_bytes,
        "note": plot.note,
    }


def _cloud(cloud: Cloud, tick: float) -> dict[str, Any]:
    return {
        "flow": cloud.flow,
        "group": cloud.group,
        "ticks": _ticks(cloud.time_s, tick),
        "inflight": _packed(cloud.inflight_bytes, "<f4"),
        "rate": _packed(cloud.rate_bps, "<f4"),
        "rtt": _packed(cloud.rtt_ms, "<f4"),
        "state": _bytes(cloud.state.fill_null(255)),
    }


def _limit(limit: Limit) -> dict[str, Any]:
    return {"label": limit.label, "inflight": limit.inflight_bytes, "values": limit.values}


def _ticks(time_s: pl.Series | None, tick: float) -> str:
    if time_s is None:
        return ""
    ticks = np.clip(np.round(time_s.to_numpy() / tick), 0, _TICKS)
    return b64encode(ticks.astype("<u4").tobytes()).decode("ascii")


def _bytes(values: pl.Series) -> str:
    return b64encode(values.cast(pl.UInt8).to_numpy().tobytes()).decode("ascii")


def _packed(values: pl.Series, type_: str) -> str:
    """Null becomes NaN."""
    return b64encode(values.cast(pl.Float64).to_numpy().astype(type_).tobytes()).decode("ascii")
