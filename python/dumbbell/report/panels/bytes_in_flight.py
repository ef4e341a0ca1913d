"""Data in flight of each flow, and BBR's bounds of it."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.plan.types import Link
from dumbbell.report import words
from dumbbell.report.curves import Measure
from dumbbell.report.facts import Facts
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.levels import few
from dumbbell.report.model import Quantity, Reference


def _levels(known: Facts) -> list[Reference]:
    found = {bdp: _of_which_rate(known, way.narrowest) for way in known.ways if (bdp := way.bdp_bytes)}
    return [Reference(bdp, f"{found[bdp]}BDP {words.size(bdp)}") for bdp in few(sorted(found))]


def _of_which_rate(known: Facts, link: Link) -> str:
    if known.network.facts[link.name].is_steady:
        return ""
    return "mean " if link.variation else "initial "


def _packets_as_bytes(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64) * pl.col("snd_mss_bytes")


PANEL: Final = FlowPanel(
    place=80,
    key="bytes_in_flight",
    title="Bytes in flight",
    unit="bytes",
    measures=(
        Measure(Quantity("bytes_in_flight", "in flight"), pl.col("bytes_in_flight"), sampled="sum"),
        Measure(
            Quantity("bbr_inflight_lo_bytes", "inflight_lo", "low"),
            _packets_as_bytes("bbr_inflight_lo_packets"),
            gaps=True,
        ),
        Measure(
            Quantity("bbr_inflight_hi_bytes", "inflight_hi", "high"),
            _packets_as_bytes("bbr_inflight_hi_packets"),
            gaps=True,
        ),
    ),
    levels=_levels,
    of_many=True,
    is_expected=True,
)
