"""Metrics of links."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.statistics.metrics.model import Metric, over_links, ratio

METRICS: Final = (
    Metric(
        "utilisation",
        "Utilisation",
        "share",
        "higher",
        ("link",),
        "bytes that left the serializer ÷ bytes that the link could have sent, over the whole run",
        "RFC 5166, section 2.1.1",
        over_links(pl.col("utilisation")),
    ),
    *(
        Metric(
            f"queue_{name}",
            f"Queueing delay, {word}",
            "ms",
            "lower",
            ("link",),
            f"queue_{name}_ms of the link: {word} over the run",
            "RFC 5166, section 2.1.2; docs/reference/metrics.md says how it is measured",
            over_links(pl.col(f"queue_{name}_ms")),
        )
        for name, word in (("p50", "median"), ("p95", "95th percentile"), ("max", "maximum"))
    ),
    Metric(
        "drops",
        "Drops",
        "packets",
        "lower",
        ("link",),
        "packets that the link itself dropped",
        "RFC 5166, section 2.1.3",
        over_links(pl.col("drops")),
    ),
    Metric(
        "losses",
        "Losses",
        "packets",
        "lower",
        ("link",),
        "packets that random or recorded loss took",
        "RFC 5166, section 2.1.3",
        over_links(pl.col("losses")),
    ),
    Metric(
        "loss_share",
        "Share of packets lost",
        "share",
        "lower",
        ("link",),
        "(drops + losses) ÷ arrived_packets: what the queue dropped and what random or recorded loss took",
        "RFC 7680, section 2: one-way loss, as a share of the packets",
        over_links(ratio(pl.col("drops") + pl.col("losses"), pl.col("arrived_packets"))),
    ),
    Metric(
        "marks",
        "Marks",
        "packets",
        "neither",
        ("link",),
        "packets on which the link set Congestion Experienced, and which left it",
        "RFC 3168",
        over_links(pl.col("marks")),
    ),
    Metric(
        "marked_share",
        "Share of packets marked",
        "share",
        "neither",
        ("link",),
        "packets on which the link set Congestion Experienced ÷ packets that left it",
        "RFC 3168",
        over_links(pl.col("marked_share")),
    ),
)
