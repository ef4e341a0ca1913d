"""Finds the connections that carried a flow's data, if it has several."""

from __future__ import annotations

from typing import Final

import polars as pl

LEAST_SHARE: Final = 0.01
"""Share of the data of the flow's busiest connection. A program's control connection delivers far less."""


def carrying(rows: pl.LazyFrame, delivered: str) -> pl.LazyFrame:
    """The rows of connections that delivered at least `LEAST_SHARE` of what the busiest one of their flow did.

    iperf3, for one, has a second connection that says how the test goes. Its window and RTT are not the flow's, and its
    congestion control may be another one.

    Args:
        rows: with `flow`, `socket` and a column of what a connection has delivered up to each row.
        delivered: the name of that column; null is none.
    """
    own, most = (pl.col(delivered).max().over(key).fill_null(0) for key in (["flow", "socket"], ["flow"]))
    return rows.filter(own.cast(pl.Float64) >= LEAST_SHARE * most)
