"""The time-sequence graph of each direction: what was sent, acknowledged and allowed, repeats by cause, SACK blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from dumbbell.captures.detail import Part
from dumbbell.report.captured.causes import CAUSES, INDEX, SACKED, key
from dumbbell.report.captured.curves import column, line, times
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Bars, Mark, Panel, Quantity, View

_QUANTITIES: Final = (
    Quantity("sent_bytes", "sent"),
    Quantity("acknowledged_bytes", "ACKed", "low"),
    Quantity("window_end_bytes", "end of window", "high"),
)
_COLUMNS: Final = ("sent_max_bytes", "acknowledged_max_bytes", "window_end_bytes")
_MOST_EVENTS: Final = 12_000
"""Anomalies of all directions that are drawn one by one."""
_LEAST: Final = 5.0
"""Least height of an anomaly, pixels."""
_FAR: Final = 1.3
_NOTE: Final = "Bytes from 0. Anomalies are coloured by cause, and needless ones apart."


def _panel(source: Source) -> Panel | None:
    views = tuple(view for way in source.ways if (view := _view(source, way)) is not None)
    if not views:
        return None
    used = {code for view in views for mark in view.marks if isinstance(mark, Bars) for code in _codes(mark)}
    place = {code: index for index, code in enumerate(sorted(used))}
    views = tuple(replace(view, marks=tuple(_recoded(mark, place) for mark in view.marks)) for view in views)
    states = tuple(CAUSES[code] for code in sorted(used))
    return Panel(
        "sequence_bytes", 1.0, "Time and sequence", "bytes", views, False, _QUANTITIES, states=states,
        choice="Direction whose sequence is shown",
    )  # fmt: skip


def _codes(mark: Bars) -> list[int]:
    return [] if mark.state is None else mark.state.unique().to_list()


def _recoded(mark: Mark, place: dict[int, int]) -> Mark:
    """The same with states as indices into those that occur."""
    if not isinstance(mark, Bars) or mark.state is None:
        return mark
    return replace(mark, state=mark.state.replace_strict(place, return_dtype=pl.UInt8))


def _view(source: Source, way: Way) -> View | None:
    rows = source.intervals[way.flow]
    if rows.is_empty():
        return None
    width = int(source.capture.summary["interval_ns"])
    # What an interval reached, it had reached by its end.
    at = np.minimum(times(rows, "start_ns") + width, source.span_ns)
    marks: list[Mark] = []
    for quantity, name in enumerate(_COLUMNS):
        values = column(rows, name)
        if name == "acknowledged_max_bytes":
            values = np.maximum.accumulate(values)
        if (drawn := line(source, way, at, values, quantity)) is not None:
            marks.append(drawn)
    highest = float(rows["sent_max_bytes"].max() or 0)  # type: ignore[arg-type]
    note = _NOTE
    if source.detail is not None:
        mine = [part for part in source.parts if part.connection == way.connection]
        shown = ", ".join(f"{part.why} at {max(0, part.from_ns) / 1e9:.3f} s" for part in sorted(mine, key=_start))
        note += f" Single packets and SACK blocks: {shown}. Others: dumbbell pcap FILE --connection N --from T --to T."
        marks += _packets(source, way)
    marks += _events(source, way)
    label = source.groups[way.group].label
    mean = way.row["goodput_bps"] or way.row["throughput_bps"]
    return View(label, pl.Series([], dtype=pl.Float64), tuple(marks), note, top=_FAR * highest, mean_bps=mean)


def _start(part: Part) -> int:
    return part.from_ns


def _packets(source: Source, way: Way) -> list[Mark]:
    """New data as bars in the colour of the direction, and SACK blocks."""
    assert source.detail is not None
    found: list[Mark] = []
    sent = way.of(source.detail.segments).filter((pl.col("bytes") > 0) & pl.col("class").is_null())
    if not sent.is_empty():
        end = sent["seq"] + sent["bytes"].cast(pl.Int64)
        found.append(Bars(sent["time_ns"] / 1e9, sent["seq"], end, way.group, way.flow, "packet"))
    sacks = way.of(source.detail.sacks)
    if not sacks.is_empty():
        state = pl.Series(np.full(sacks.height, SACKED, dtype=np.uint8))
        found.append(
            Bars(sacks["time_ns"] / 1e9, sacks["start"], sacks["end"], way.group, way.flow, "sack", state, is_pale=True)
        )
    return found


def _events(source: Source, way: Way) -> list[Mark]:
    """Anomalies; of too many those that would not lie on one another."""
    rows = source.events[way.flow].with_columns(kind=key()).drop_nulls("kind").filter(pl.col("seq") >= 0)
    most = _MOST_EVENTS // len(source.ways)
    if rows.height > most:
        width = round_width_ns(source.span_ns * len(CAUSES) / most)
        slot = (pl.col("time_ns") // width).alias("slot")
        rows = rows.group_by(slot, "kind", maintain_order=True).first().sort("time_ns").head(most)
    if rows.is_empty():
        return []
    state = rows["kind"].replace_strict(INDEX, return_dtype=pl.UInt8)
    end = rows["seq"] + rows["bytes"].cast(pl.Int64)
    return [Bars(rows["time_ns"] / 1e9, rows["seq"], end, way.group, way.flow, "event", state, _LEAST)]


PANEL: Final = Definition(50, _panel)
