"""The goodput of each flow: bytes that its receiver reads."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.rate_panel import RatePanel

BYTES: Final = pl.coalesce("received_bytes", "bytes_acked")

PANEL: Final = RatePanel(
    place=10,
    key="goodput_bps",
    title="Goodput",
    counter=BYTES,
    note="Goodput: bytes read by the receiver's application",
    otherwise=(
        pl.col("received_bytes").is_null() & pl.col("bytes_acked").is_not_null(),
        "For an external receiver: bytes acknowledged.",
    ),
    above_capacity="Above capacity: a repaired loss has released the data behind it.",
    is_expected=True,
)
