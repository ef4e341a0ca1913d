"""Sent and acknowledged data of each flow in its sequence space, with losses and retransmissions."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.curves import Measure
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity


def _grew(counter: str) -> pl.Expr:
    """The place in the sequence where a counter grew."""
    grown = pl.col(counter).cast(pl.Int64).diff().fill_null(pl.col(counter).cast(pl.Int64)) > 0
    return pl.when(grown).then(pl.col("snd_una_bytes"))


PANEL: Final = FlowPanel(
    place=90,
    key="snd_nxt_bytes",
    title="Sequence",
    unit="bytes",
    measures=(
        Measure(Quantity("snd_nxt_bytes", "snd_nxt"), pl.col("snd_nxt_bytes")),
        Measure(Quantity("snd_una_bytes", "snd_una", "low"), pl.col("snd_una_bytes")),
        Measure(Quantity("lost_at_bytes", "lost", "lost"), _grew("lost_total_packets")),
        Measure(Quantity("resent_at_bytes", "resent", "resent"), _grew("retransmitted_segments")),
    ),
    from_zero=False,
    note="Marks of loss and retransmission stand at the first byte that is not acknowledged.",
    of_one_socket=True,
    # The last digits of a sequence number matter.
    decimals=3,
)
