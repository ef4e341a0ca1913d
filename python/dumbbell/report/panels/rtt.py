"""Round-trip times of each flow: of single ACKs, smoothed, and the least that BBR knows."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.curves import Measure
from dumbbell.report.facts import Facts
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity, Reference

_MOST_LEVELS: Final = 4


def _levels(known: Facts) -> list[Reference]:
    return [Reference(rtt * 1e3, f"base {words.seconds(rtt)}") for rtt in known.base_rtts_s[:_MOST_LEVELS]]


PANEL: Final = FlowPanel(
    place=50,
    key="srtt_ms",
    title="RTT",
    unit="ms",
    measures=(
        Measure(Quantity("rtt_ms", "RTT", "pale"), pl.col("rtt_us") / 1e3, steps=False),
        Measure(
            Quantity("srtt_ms", "srtt"),
            pl.col("srtt_us") / 1e3,
            steps=False,
            sampled="mean",
            alone="Smoothed RTT (srtt).",
        ),
        Measure(Quantity("bbr_min_rtt_ms", "min_rtt", "low"), pl.col("bbr_min_rtt_us") / 1e3, sampled="one"),
    ),
    levels=_levels,
    from_zero=False,
    together="mean",
    of_many=True,
    is_expected=True,
)
