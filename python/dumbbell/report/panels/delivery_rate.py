"""The delivery rate that the kernel samples, and BBR's estimate of it."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.curves import Measure
from dumbbell.report.facts import Facts
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity, Reference


def _levels(known: Facts) -> list[Reference]:
    rate = known.bottleneck_bps
    if rate is None or not known.is_constant:
        return []
    return [Reference(float(rate), f"capacity {words.rate(rate)}")]


PANEL: Final = FlowPanel(
    place=30,
    key="delivery_rate_bps",
    title="Delivery rate",
    unit="bit/s",
    measures=(
        Measure(Quantity("delivery_rate_bps", "rate", "pale"), pl.col("delivery_rate_bps"), sampled="sum"),
        Measure(Quantity("bbr_bw_bps", "bw"), pl.col("bbr_bw_bps"), sampled="sum"),
        Measure(Quantity("bbr_bw_lo_bps", "bw_lo", "low"), pl.col("bbr_bw_lo_bps"), gaps=True),
        Measure(Quantity("bbr_bw_hi_bps", "bw_hi", "high"), pl.col("bbr_bw_hi_bps"), gaps=True),
    ),
    levels=_levels,
    is_noisy=True,
)
