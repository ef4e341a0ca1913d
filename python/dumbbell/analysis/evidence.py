"""A run's evidence of its own fidelity, from its accounts and tables. The rules judge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from dumbbell.analysis import pace
from dumbbell.frozen import dataclass
from dumbbell.plan.network import network
from dumbbell.records.accounts import Accounts

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


if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Evidence(Accounts):
    """The engine's own accounts, and what the tables say about them."""

    paces: Mapping[str, pace.Pace]
    """The pace of each link that has a rate at all times; empty if packets were not recorded."""
    logged_packets: Mapping[str, int] | None
    """Rows of `packets` per link; `None` if packets were not recorded."""
    corrupted_packets: Mapping[str, int] | None
    """Packets that links corrupted, per flow; `None` if packets were not recorded."""
    min_rtt_us: Mapping[str, int]
    """The smallest RTT that TCP measured otherwise than by timestamps alone, per flow that has one."""
    largest_window: int | None = None
    """The largest window of all samples, packets; `None` without a TCP flow."""
    ack_coverage: Mapping[str, Coverage] | None = None
    """Rows of `acks` against samples, per flow; `None` if acknowledgements were not recorded."""

    @classmethod
    def gather(
        cls,
        accounts: Accounts,
        samples: pl.LazyFrame,
        packets: pl.LazyFrame | None,
        ack_rows: pl.LazyFrame | None,
    ) -> Self:
        """Gather the evidence of one run.

        Args:
            accounts: what the run's engine says of it.
            samples: the table `samples`.
            packets: the table `packets`; `None` if packets were not recorded.
            ack_rows: the table `acks`; `None` if acknowledgements were not recorded.
        """
        import polars as pl

        logged: dict[str, int] | None = None
        corrupted: dict[str, int] | None = None
        # The times at which packets were really sent are known only if packets are recorded.
        paces: dict[str, pace.Pace] = {}
        if packets is not None:
            found = network(accounts.plan)
            limited = {name: found.histories[name] for name, link in found.facts.items() if link.is_limited}
            per_link = packets.group_by(pl.col("link").cast(pl.String)).len().collect(engine="streaming")
            logged = dict(per_link.iter_rows())
            paces = pace.measure(packets, limited, logged)
            flipped = packets.filter("corrupted").group_by(pl.col("flow").cast(pl.String)).len()
            corrupted = dict(flipped.collect(engine="streaming").iter_rows())
        # After a retransmission Linux may measure by timestamps alone, in whole milliseconds. They tell the time at
        # which pacing lets a segment go, and a timeout sends it at once: such an RTT may be shorter than the path.
        rtt = pl.col("min_rtt_us")
        resent = pl.col("retransmitted_segments").max().fill_null(0) > 0
        rtts = (
            samples.filter(rtt.is_not_null())
            .group_by(pl.col("flow").cast(pl.String))
            .agg(pl.coalesce(rtt.filter(rtt % 1000 != 0).min(), pl.when(~resent).then(rtt.min())))
            .drop_nulls()
            .collect(engine="streaming")
        )
        return cls(
            **vars(accounts),
            paces=paces,
            logged_packets=logged,
            corrupted_packets=corrupted,
            min_rtt_us=dict(sorted(rtts.iter_rows())),
            largest_window=samples.select(pl.col("cwnd_packets").max()).collect(engine="streaming").item(),
            ack_coverage=coverage(ack_rows, samples) if ack_rows is not None else None,
        )
