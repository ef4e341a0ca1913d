"""Drops and retransmissions as marks on the time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Events, Group

DROP: Final = "drop"
RETRANSMISSION: Final = "retransmission"
_MARKS_PER_LANE: Final = 2000
_LOST: Final = ("dropped-tail", "lost-before", "lost-after")


@dataclass(frozen=True)
class Found:
    """All events, what they were drawn from, and which kinds are known for each flow."""

    events: tuple[Events, ...]
    note: str
    per_flow: tuple[str, ...]


def events(run: Run, groups: Sequence[Group], samples: pl.DataFrame | None) -> Found:
    """Drops at any link and retransmissions, per group."""
    width = round_width_ns(run.plan["duration_ns"] / _MARKS_PER_LANE)
    group_of = {flow: index for index, group in enumerate(groups) for flow in group.flows}
    found: list[Events] = []
    per_flow: list[str] = []
    if run.has("packets"):
        found += _grouped(DROP, _packet_drops(run), group_of, width)
        per_flow.append(DROP)
        source = "Drops: every packet that a link dropped or lost, at its arrival there."
    elif run.has("links"):
        found += _grouped(DROP, _link_drops(run), group_of, width)
        source = "Drops: counters of the links, of all flows together; there is no record of packets."
    else:
        source = "Drops are unknown."
    if samples is not None:
        found += _grouped(RETRANSMISSION, retransmissions(samples), group_of, width)
        per_flow.append(RETRANSMISSION)
        source += " Retransmissions: as the sender's counter grew between two samples."
    note = f"{source} One mark per {words.seconds(width / 1e9)}."
    return Found(tuple(found), note, tuple(per_flow))


def retransmissions(samples: pl.DataFrame) -> pl.DataFrame:
    """Growth of each socket's counter: `time_ns`, `flow`, `count`."""
    counter = pl.col("retransmitted_segments").cast(pl.Int64)
    grown = counter - counter.shift(1).over("flow", "socket").fill_null(0)
    rows = samples.filter(pl.col("retransmitted_segments").is_not_null()).sort("time_ns")
    return rows.select("time_ns", "flow", count=grown).filter(pl.col("count") > 0)


def _packet_drops(run: Run) -> pl.DataFrame:
    lost = run.scan("packets").filter(pl.col("fate").cast(pl.String).is_in(_LOST))
    return lost.select(time_ns="arrival_ns", flow=pl.col("flow").cast(pl.String), count=pl.lit(1, pl.Int64)).collect()


def _link_drops(run: Run) -> pl.DataFrame:
    lost = (pl.col("dropped_packets") + pl.col("lost_packets")).cast(pl.Int64)
    grown = lost - lost.shift(1).over("link").fill_null(0)
    rows = run.scan("links").sort("time_ns").select("time_ns", flow=pl.lit(None, pl.String), count=grown)
    return rows.filter(pl.col("count") > 0).collect()


def _grouped(kind: str, rows: pl.DataFrame, group_of: dict[str, int], width_ns: int) -> list[Events]:
    group = pl.col("flow").replace_strict(group_of, default=None, return_dtype=pl.Int64)
    marks = (
        rows.group_by(group.alias("group"), pl.col("time_ns") // width_ns * width_ns)
        .agg(pl.col("count").sum())
        .sort("group", "time_ns", nulls_last=True)
    )
    return [
        Events(kind, part["group"][0], part["time_ns"] / 1e9, part["count"])
        for part in marks.partition_by("group", maintain_order=True)
    ]
