"""The sending rate of each flow: the sender's throughput, retransmissions included."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.rate_panel import RatePanel

PANEL: Final = RatePanel(
    place=15,
    key="sending_rate_bps",
    title="Sending rate",
    counter=pl.col("bytes_sent"),
    note="Sending rate: payload that the sender sends, retransmissions included,",
)
