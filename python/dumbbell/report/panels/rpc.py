"""Completion times of requests: what an application waits for."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from dumbbell.report import waits
from dumbbell.report.definition import OfTables

_REQUESTS: Final = waits.Waits(
    table="requests",
    column="fct_ns",
    missing=pl.col("fct_ns").is_null(),
    key="rpc_fct_ms",
    title="Request completion time",
    what="Completion time",
    noun="request",
    due="when each was issued",
    gone="unanswered",
)
PANEL: Final = OfTables(56, _REQUESTS.title, partial(waits.draw, waits=_REQUESTS))
