"""What the records of one run tell of a flow: timeouts, swings of the queue, the most that it sends."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.records.run import Run

BIN_NS: Final = 100_000_000
"""Their throughput is that of 0.1 s each."""
PROBING: Final = 1.1
"""BBR's pacing gain is above this while it probes for bandwidth, at 1.25."""


def timeouts(run: Run, flow: str) -> int:
    """How often the flow's retransmission timer expired: how often the kernel's state became `loss`.

    The state lasts a round trip at least, so samples every 10 ms miss none.
    """
    state = _samples(run, flow)["ca_state"].cast(pl.String).fill_null("")
    is_loss = (state == "loss").to_list()
    return sum(now and not before for before, now in itertools.pairwise([False, *is_loss]))


@dataclass(frozen=True)
class Swing:
    """The bottleneck's queue from one probe for bandwidth of BBR to the next, in bytes."""

    seconds: float
    least: float
    most: float


def swings(run: Run, flow: str, after_s: float) -> list[Swing]:
    """The swings from `after_s` on; none if the flow's algorithm tells no pacing gain."""
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    probes = (own["bbr_pacing_gain"].fill_null(0) > PROBING).to_list()
    begins = [
        at for at, (before, now) in zip(own["time_ns"], itertools.pairwise([True, *probes]), strict=True)
        if now and not before
    ]  # fmt: skip
    queue = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck").select("time_ns", "queue_bytes")
    found = []
    for start, stop in itertools.pairwise(begins):
        held = queue.filter(pl.col("time_ns").is_between(start, stop, closed="left"))["queue_bytes"]
        if len(held):
            found.append(Swing((stop - start) / 1e9, float(held.min()), float(held.max())))  # type: ignore[arg-type]
    return found


def peak_bps(run: Run, flow: str) -> float:
    """The most payload that the flow sent in any 0.1 s, repetitions included, in bit/s."""
    own = _samples(run, flow).group_by(pl.col("time_ns") // BIN_NS, maintain_order=True)
    sent = own.agg(pl.col("bytes_sent").max())["bytes_sent"].cast(pl.Int64).diff().drop_nulls()
    return 8e9 * float(sent.max() or 0) / BIN_NS  # type: ignore[arg-type]


def _samples(run: Run, flow: str) -> pl.DataFrame:
    return run.samples.filter(pl.col("flow").cast(pl.String) == flow).sort("time_ns")
