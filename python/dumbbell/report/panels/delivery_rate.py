"""The delivery rate that the kernel samples, and BBR's estimate of it."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.curves import Measure
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.levels import capacities
from dumbbell.report.model import Quantity

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
    levels=capacities,
    is_noisy=True,
)
