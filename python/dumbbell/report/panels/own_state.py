"""The numbers that a user's own congestion control publishes."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.curves import Measure
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity

PANEL: Final = FlowPanel(
    place=45,
    key="own_state",
    title="Own state",
    unit="",
    measures=(
        Measure(Quantity("own_value_1", "value 1"), pl.col("own_value_1"), gaps=True),
        Measure(Quantity("own_value_2", "value 2", "low"), pl.col("own_value_2"), gaps=True),
        Measure(Quantity("own_value_3", "value 3", "high"), pl.col("own_value_3"), gaps=True),
        Measure(Quantity("own_value_4", "value 4", "pale"), pl.col("own_value_4"), gaps=True),
    ),
    of_one_socket=True,
)
