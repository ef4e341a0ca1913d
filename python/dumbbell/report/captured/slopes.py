"""A ladder between two captures: each packet's line begins and ends when it was captured, so its slope is measured."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell import parquet
from dumbbell.captures.capture import Capture
from dumbbell.captures.pairs import BETWEEN, DIRECTIONS, PAIRS
from dumbbell.counts import count
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.model import Line, Points, Reference, View

_A, _B = 1.0, 0.0
_MIDDLE: Final = 0.5


def measured(source: Source, number: int, ways: dict[str, Way], start_ns: int, end_ns: int, most: int) -> View | None:
    """The packets that A, the first capture, or else B has from `start_ns` to `end_ns`; None if there is no B."""
    between = source.capture.summary.get(BETWEEN)
    if between is None:
        return None
    offset = int(between["offset_ns"] or 0)
    rows = _rows(source.capture, number, offset, start_ns, end_ns)
    left_out = max(0, rows.height - most)
    rows = rows.head(most)
    if rows.is_empty():
        return None
    marks: list[Line | Points] = []
    for direction in DIRECTIONS:
        way = ways.get(direction) or next(iter(ways.values()))
        from_a = (direction == "to-server") == between["first_is_nearer"]
        marks += _crossings(rows.filter(pl.col("direction") == direction), way, from_a=from_a)
    clock = (
        "How the clocks differ is not known: B's is taken as it is."
        if between["offset_ns"] is None
        else f"B's clock is taken to be {offset / 1e6:.4g} ms ahead, the centre of what is possible."
    )
    note = (
        f"Packets from {start_ns / 1e9:.3f} to {end_ns / 1e9:.3f} s: zoom in. Each line begins and ends when its "
        f"packet was captured. {clock} Triangles are packets that only one capture has."
    )
    if left_out:
        note += (
            f" Not drawn: {count(left_out, 'more packet')}. Choose a shorter part with --connection, --from and --to."
        )
    label = source.groups[next(iter(ways.values())).group].label.split(" ", 1)[-1]
    references = (Reference(_A, "A"), Reference(_B, "B"))
    return View(
        f"{number} {label}, from A to B",
        pl.Series([], dtype=pl.Float64),
        tuple(marks),
        note,
        references,
        low=0.0,
        top=1.0,
    )


def _rows(capture: Capture, number: int, offset_ns: int, start_ns: int, end_ns: int) -> pl.DataFrame:
    rows = parquet.scan(capture.directory / PAIRS).filter(pl.col("connection") == number)
    rows = rows.with_columns(second_ns=pl.col("second_ns") - offset_ns)
    at = pl.coalesce("first_ns", "second_ns")
    return rows.filter(at.is_between(start_ns, end_ns)).sort(at, maintain_order=True).collect()


def _crossings(rows: pl.DataFrame, way: Way, *, from_a: bool) -> list[Line | Points]:
    """A line with a gap behind each packet, and a triangle half-way for each that is at one place only."""
    found: list[Line | Points] = []
    both = rows.drop_nulls(["first_ns", "second_ns"])
    ends = (("first_ns", _A), ("second_ns", _B))
    (sent, high), (got, low) = ends if from_a else ends[::-1]
    if not both.is_empty():
        first, last = (both[name].to_numpy() / 1e9 for name in (sent, got))
        time = np.stack([first, last, last], axis=1).ravel()
        place = np.tile(np.array([high, low, np.nan]), both.height)
        found.append(Line(pl.Series(place).fill_nan(None), way.group, way.flow, name="packet", time_s=pl.Series(time)))
    one = rows.filter(pl.col("first_ns").is_null() | pl.col("second_ns").is_null())
    if not one.is_empty():
        at = one.select(pl.coalesce("first_ns", "second_ns") / 1e9).to_series()
        place = np.full(one.height, _MIDDLE)
        found.append(Points(pl.Series(place), way.group, at, way.flow, look="lost"))
    return found
