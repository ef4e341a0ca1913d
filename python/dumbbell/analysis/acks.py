"""Does the table of acknowledgements agree with what the kernel told at the samples?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.records.run import Run


@dataclass(frozen=True)
class Coverage:
    """One flow's rows of `acks` against its samples."""

    samples: int
    """Samples of connections that were established, which is when there are rows."""
    missed: int
    """Those whose `delivered_packets` neither the row before nor the row after them has: a row between is missing."""
    silent: int
    """Connections that sent data and have no row."""


def coverage(run: Run) -> Mapping[str, Coverage]:
    """Of each flow that has samples of TCP.

    Between two acknowledgements nothing changes what was delivered. So a sample shows the value of a row beside it: the
    row before it if rows are taken after an acknowledgement is processed, the row after it if they are taken before.
    """
    import polars as pl

    key = ["flow", "socket"]
    columns = [pl.col("flow").cast(pl.String), *map(pl.col, ("socket", "time_ns", "delivered_packets"))]
    closed = pl.col("time_ns").filter(pl.col("moment") == "close").min()
    acks = run.scan("acks").select(*columns, pl.col("moment").cast(pl.String)).sort("time_ns")
    spans = acks.group_by(key).agg(first=pl.col("time_ns").min(), last=pl.coalesce(closed, pl.col("time_ns").max()))
    samples = run.scan("samples").filter(pl.col("delivered_packets").is_not_null())
    sending = samples.group_by(pl.col("flow").cast(pl.String), "socket").agg(sent=pl.col("bytes_sent").max())
    rows = acks.drop("moment")
    beside = (
        samples.select(*columns)
        .sort("time_ns")
        .join(spans, on=key)
        .filter(pl.col("time_ns").is_between("first", "last"))
        .sort("time_ns")
        .join_asof(_named(rows, "before"), on="time_ns", by=key, strategy="backward", check_sortedness=False)
        .join_asof(_named(rows, "after"), on="time_ns", by=key, strategy="forward", check_sortedness=False)
    )
    same = (pl.col("delivered_packets") == pl.col("before")) | (pl.col("delivered_packets") == pl.col("after"))
    compared = beside.group_by("flow").agg(samples=pl.len(), missed=(~same.fill_null(False)).sum()).collect()
    silent = (
        sending.join(spans, on=key, how="left")
        .group_by("flow")
        .agg(silent=(pl.col("first").is_null() & (pl.col("sent") > 0)).sum())
        .collect()
    )
    counts = {flow: (samples, missed) for flow, samples, missed in compared.select("flow", "samples", "missed").rows()}
    return {flow: Coverage(*counts.get(flow, (0, 0)), silent=n) for flow, n in silent.select("flow", "silent").rows()}


def _named(rows: pl.LazyFrame, name: str) -> pl.LazyFrame:
    return rows.rename({"delivered_packets": name})
