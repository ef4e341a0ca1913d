"""Round-trip times of echo requests, and when one was lost: the latency that other traffic finds on the path."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from dumbbell.report import waits
from dumbbell.report.definition import OfTables

_PINGS: Final = waits.Waits(
    table="pings",
    column="rtt_ns",
    missing=pl.col("lost"),
    key="ping_rtt_ms",
    title="Ping RTT",
    what="Round-trip time",
    noun="echo request",
    due="when each was sent",
    gone="lost",
)
PANEL: Final = OfTables(55, _PINGS.title, partial(waits.draw, waits=_PINGS))
