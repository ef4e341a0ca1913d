"""Metrics of links."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.statistics.metrics.model import OF_LINKS, Metric, over_links, ratio

METRICS: Final = (
    Metric(
        "loss_share",
        "Share of packets lost",
        "share",
        "lower",
        OF_LINKS,
        "(drops + losses) ÷ arrived_packets: what the queue dropped and what random or recorded loss took",
        "RFC 7680, section 2: one-way loss, as a share of the packets",
        over_links(ratio(pl.col("drops") + pl.col("losses"), pl.col("arrived_packets"))),
    ),
)
