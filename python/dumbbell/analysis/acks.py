"""Checks whether the table of acknowledgements agrees with the kernel's samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Coverage:
    """One flow's rows of `acks` against its samples."""

    samples: int
    """Samples of connections that were established, which is when there are rows."""
    missed: int
    """Samples whose `delivered_packets` no row has: a row is missing."""
    silent: int
    """Connections that had data acknowledged and have no row."""


def coverage(acks: pl.LazyFrame, samples: pl.LazyFrame) -> Mapping[str, Coverage]:
    """The coverage of each flow that has samples of TCP, from the tables `acks` and `samples` of a run.

    The count of delivered packets changes only at acknowledgements. A sample therefore shows the value of a row beside
    it: the row before it if rows are taken after an acknowledgement is processed, the row after it if they are taken
    before. An acknowledgement may come between the sample's reading of the clock and of the socket. The test is
    therefore whether any row has the value, which never returns.
    """
    import polars as pl

    key = ["flow", "socket"]
    columns = [pl.col("flow").cast(pl.String), *map(pl.col, ("socket", "time_ns", "delivered_packets"))]
    closed = pl.col("time_ns").filter(pl.col("moment").cast(pl.String) == "close").min()
    acks = acks.select(*columns, "moment")
    spans = acks.group_by(key).agg(first=pl.col("time_ns").min(), last=pl.coalesce(closed, pl.col("time_ns").max()))
    known = acks.select(*key, "delivered_packets", known=True).unique()
    samples = samples.filter(pl.col("delivered_packets").is_not_null()).select(*columns, "bytes_acked")
    compared = (
        samples.join(spans, on=key)
        .filter(pl.col("time_ns").is_between("first", "last"))
        .join(known, on=[*key, "delivered_packets"], how="left")
        .group_by("flow")
        .agg(samples=pl.len(), missed=pl.col("known").is_null().sum())
    )
    silent = (
        samples.group_by(key)
        .agg(acked=pl.col("bytes_acked").max())
        .join(spans, on=key, how="left")
        .group_by("flow")
        .agg(silent=(pl.col("first").is_null() & (pl.col("acked") > 0)).sum())
    )
    found = silent.join(compared, on="flow", how="left").select("flow", "samples", "missed", "silent").collect()
    # Sorted: groups come in any order, and what a run says of itself must not change from one reading to the next.
    return {flow: Coverage(samples or 0, missed or 0, silent) for flow, samples, missed, silent in sorted(found.rows())}
