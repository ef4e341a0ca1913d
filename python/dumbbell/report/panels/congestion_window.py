"""The congestion window of each flow, and the window that CUBIC aims at."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.curves import Measure
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity

PANEL: Final = FlowPanel(
    place=40,
    key="cwnd_packets",
    title="Congestion window",
    unit="packets",
    measures=(
        Measure(Quantity("cwnd_packets", "cwnd"), pl.col("cwnd_packets"), sampled="sum"),
        Measure(Quantity("ssthresh_packets", "ssthresh", "low"), pl.col("ssthresh_packets"), gaps=True, sampled="one"),
        Measure(Quantity("cubic_w_max_packets", "W_max", "high"), pl.col("cubic_w_max_packets"), gaps=True),
    ),
    of_many=True,
    is_expected=True,
)
