"""Finds the connections that carried a flow's data, if it has several."""

from __future__ import annotations

import polars as pl

from dumbbell.core import core


def carrying(rows: pl.DataFrame, delivered: str) -> pl.DataFrame:
    """The rows of connections that carried their flow's data: the others delivered next to nothing.

    iperf3, for one, has a second connection that says how the test goes. Its window and RTT are not the flow's, and its
    congestion control may be another one. The crate `figures` has the rule, which figures follow, too.

    Args:
        rows: with `flow`, `socket` and a column of what a connection has delivered up to each row.
        delivered: the name of that column; null is none.
    """
    own = rows.group_by("flow", "socket").agg(pl.col(delivered).max().fill_null(0))
    flows = (
        flow.filter(pl.Series(core.carrying(flow[delivered].to_list()), dtype=pl.Boolean))
        for flow in own.partition_by("flow")
    )
    carried = pl.concat([own.clear(), *flows])
    return rows.join(carried, on=["flow", "socket"], how="semi", nulls_equal=True, maintain_order="left")
