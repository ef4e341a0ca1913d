"""A run's evidence of its own fidelity, from its accounts and tables. The rules judge it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from dumbbell.analysis import acks, pace
from dumbbell.plan.network import network
from dumbbell.records.accounts import Accounts

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
    ack_coverage: Mapping[str, acks.Coverage] | None = None
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
            ack_coverage=acks.coverage(ack_rows, samples) if ack_rows is not None else None,
        )
