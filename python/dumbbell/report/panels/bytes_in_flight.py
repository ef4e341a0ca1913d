"""Data in flight of each flow, and BBR's bounds of it."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.curves import Measure
from dumbbell.report.facts import Facts
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity, Reference


def _levels(known: Facts) -> list[Reference]:
    bdp = known.bdp_bytes
    return [Reference(bdp, f"{_of_which_rate(known)}BDP {words.size(bdp)}")] if bdp else []


def _of_which_rate(known: Facts) -> str:
    if known.bottleneck is None or known.network.facts[known.bottleneck.name].is_steady:
        return ""
    return "mean " if known.bottleneck.variation else "initial "


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
