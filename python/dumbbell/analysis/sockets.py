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
    own = rows.group_by("flow", "socket").agg(pl.col(delivered).max())
    left_out = idle(own, delivered)
    if left_out.is_empty():
        return rows
    return rows.join(left_out, on=["flow", "socket"], how="anti", nulls_equal=True, maintain_order="left")


def idle(connections: pl.DataFrame, delivered: str) -> pl.DataFrame:
    """`flow` and `socket` of connections that delivered next to nothing beside another one of their flow.

    Args:
        connections: a row per connection, with `flow`, `socket` and what it has delivered.
        delivered: the name of that column; null is none.
    """
    several = connections.filter(pl.len().over("flow") > 1).with_columns(pl.col(delivered).fill_null(0))
    found = [
        flow.filter(~pl.Series(core.carrying(flow[delivered].to_list()), dtype=pl.Boolean))
        for flow in several.partition_by("flow")
    ]
    return pl.concat([several.clear(), *found]).select("flow", "socket")
