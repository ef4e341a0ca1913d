"""Points of Kleinrock's plot: delivery rate and RTT against data in flight, ACK by ACK; and what no flow can pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final

import numpy as np
import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.plan.parts import kind
from dumbbell.records import Run
from dumbbell.report import states, words
from dumbbell.report.acks import Acks
from dumbbell.report.facts import Facts, buffer_bytes, rate_bps
from dumbbell.report.levels import few
from dumbbell.report.samples import Samples
from dumbbell.units.mtu import ETHERNET, IP, TCP

POINTS: Final = 24_000
"""The most points of all flows together."""
_MOST_POINTS: Final = 6_000
"""The most points of one flow."""
_CELLS: Final = (160, 80, 80)
"""Cells along data in flight, rate, and RTT: points in one cell lie on one another."""
ACK_COLUMNS: Final = (
    *("time_ns", "snd_mss_bytes", "bytes_in_flight", "delivery_rate_bps", "rtt_us"),
    *states.COLUMNS,
)
SAMPLE_COLUMNS: Final = ("time_ns", "snd_mss_bytes", "bytes_in_flight", "delivery_rate_bps", "srtt_us")
_LINES: Final = (
    " The lines are bounds: no flow is above the capacity (of payload) or in flight / base RTT, nor below the base RTT"
    " or in flight / capacity. A flow that shares the link is farther from them."
)


@dataclass(frozen=True)
class Cloud:
    """Points of one flow."""

    flow: str
    group: int
    time_s: pl.Series
    inflight_bytes: pl.Series
    rate_bps: pl.Series
    rtt_ms: pl.Series
    state: pl.Series
    """Index into `STATES`; null without a state."""


@dataclass(frozen=True)
class Limit:
    """A limit that no flow can pass, as a polyline over bytes in flight, in bit/s or ms."""

    label: str
    inflight_bytes: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Frame:
    """The limits of the plot's axes, and of flows."""

    bdp_bytes: float | None
    """`None`: the capacity changes, or nothing limits the rate."""
    full_bytes: float | None
    """Bytes in flight of a single flow at which the buffer overflows."""
    rate_limits: tuple[Limit, ...]
    rtt_limits: tuple[Limit, ...]
    top_rate_bps: float
    top_rtt_ms: float
    bottom_rtt_ms: float
    right_bytes: float
    note: str


@dataclass
class Clouds:
    """Gathers the points of each flow."""

    n_flows: int
    found: list[Cloud] = field(default_factory=list)
    n: int = 0
    """The number of rows behind the points."""
    kept: int = 0
    mss: int = 0
    from_samples: bool = False

    def add(self, acks: Acks) -> None:
        """Add the points of one flow's ACKs."""
        rows = acks.rows.select(
            "time_ns",
            "snd_mss_bytes",
            inflight="bytes_in_flight",
            rate="delivery_rate_bps",
            rtt=pl.col("rtt_us") / 1e3,
            state=states.of_rows(),
        )
        self._add(rows, acks.flow, acks.group)

    def add_samples(self, samples: Samples) -> None:
        """Add the points of all flows whose data one socket carried, where ACKs were not recorded."""
        self.from_samples = True
        group_of = {flow: index for index, group in enumerate(samples.groups) for flow in group.flows}
        single = samples.carrying.filter(pl.col("flow").is_in(list(samples.several)).not_())
        rows = single.select(
            "time_ns",
            "flow",
            "snd_mss_bytes",
            inflight="bytes_in_flight",
            rate="delivery_rate_bps",
            rtt=pl.col("srtt_us") / 1e3,
            state=pl.lit(None, pl.Int8),
        )
        for (flow,), part in rows.partition_by("flow", as_dict=True, maintain_order=True).items():
            self._add(part.drop("flow"), str(flow), group_of[str(flow)])

    def _add(self, rows: pl.DataFrame, flow: str, group: int) -> None:
        rows = as_sent(rows).filter(pl.col("inflight") > 0)
        if rows["rate"].null_count() == rows.height:
            return
        self.mss = max(self.mss, int(rows["snd_mss_bytes"].max() or 0))  # type: ignore[arg-type]
        kept = rows[evenly_kept(rows, min(_MOST_POINTS, POINTS // self.n_flows))]
        self.n, self.kept = self.n + rows.height, self.kept + kept.height
        self.found.append(
            Cloud(
                flow,
                group,
                kept["time_ns"] / 1e9,
                kept["inflight"].cast(pl.Float64),
                kept["rate"].cast(pl.Float64),
                kept["rtt"],
                kept["state"],
            )
        )


def as_sent(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, with `inflight` and `state` as they were one RTT earlier.

    At that time the acknowledged packet was sent, and an ACK measures what that packet met: its rate and RTT follow
    from the data in flight then.
    """
    known = rows.filter(pl.col("rtt").is_not_null(), pl.col("inflight").is_not_null())
    sent = (known["time_ns"] - (known["rtt"] * 1e6).cast(pl.Int64)).to_numpy()
    at = np.searchsorted(known["time_ns"].to_numpy(), sent, side="right") - 1
    before = np.maximum(at, 0)
    then = {"inflight": known["inflight"].gather(before), "state": known["state"].gather(before)}
    # The kernel keeps the latest sample where an ACK gives none, or one that the application limited.
    is_new = pl.col("rate").ne_missing(pl.col("rate").shift())
    return known.with_columns(**then, rate=pl.when(is_new).then("rate")).filter(pl.Series(at >= 0))


def evenly_kept(rows: pl.DataFrame, most: int) -> pl.Series:
    """Indices of at most `most` rows: all that lie alone, and an even share of those that lie on one another."""
    if rows.height <= most:
        return pl.int_range(rows.height, eager=True)
    columns = [rows[name].cast(pl.Float64).fill_null(0).to_numpy() for name in ("inflight", "rate", "rtt")]
    cell = np.zeros(rows.height, dtype=np.int64)
    for values, cells in zip(columns, _CELLS, strict=True):
        step = max(float(np.percentile(values, 99.9)), 1e-9) / cells
        cell = cell * (2 * cells) + np.minimum(values // step, 2 * cells - 1).astype(np.int64)
    shuffled = np.random.default_rng(0).permutation(rows.height)
    order = shuffled[np.argsort(cell[shuffled], kind="stable")]
    first = np.concatenate(([True], np.diff(cell[order]) != 0))
    start = np.flatnonzero(first)
    rank = np.arange(rows.height) - np.repeat(start, np.diff(np.append(start, rows.height)))
    counts = np.bincount(rank)
    each = max(1, int(np.searchsorted(np.cumsum(counts), most, side="right")))
    return pl.Series(np.sort(order[rank < each][:most] if each > 1 else order[first][:most]))


def frame(run: Run, known: Facts, clouds: Clouds, left_out: Sequence[str]) -> Frame:
    """The frame of the points of `clouds`, which has some."""
    inflight = np.concatenate([cloud.inflight_bytes.to_numpy() for cloud in clouds.found])
    rate = np.concatenate([cloud.rate_bps.drop_nulls().to_numpy() for cloud in clouds.found])
    rtt = np.concatenate([cloud.rtt_ms.drop_nulls().to_numpy() for cloud in clouds.found])
    right, top_rate, top_rtt = (float(np.percentile(x, 99.9)) if len(x) else 1.0 for x in (inflight, rate, rtt))
    bottom_rtt = 0.0
    note = f"One point per {'sample' if clouds.from_samples else 'ACK'}"
    thinned = (
        f", {clouds.kept:,} of {clouds.n:,}: fewer where they lie on one another" if clouds.kept < clouds.n else ""
    )
    note += f"{thinned}. In flight, and state: one RTT earlier, as the packet was sent." + (
        " RTT: smoothed." if clouds.from_samples else ""
    )
    bdp = full = None
    rate_limits: list[Limit] = []
    rtt_limits: list[Limit] = []
    way = known.widest
    if way is not None and known.is_constant and known.base_rtts_s:
        link = way.narrowest
        # The largest segments are those of the version with the shorter header.
        ip = min(flow.ip for flow in run.plan.flows if kind(flow).has_segments)
        headers = ETHERNET + TCP + IP[ip] + link.overhead_bytes
        share = clouds.mss / (clouds.mss + headers)
        capacity = rate_bps(link) * share
        bdp = capacity * known.base_rtts_s[-1] / 8
        # Beside other limited links, a full buffer of one bounds nothing.
        room = None if known.has_several else buffer_bytes(link)
        full = None if room is None else bdp + room * share
        right = max(right, 1.3 * bdp, full if full is not None and full < 2 * right else 0)
        if full is not None and full > 1.06 * right:
            note += f" The buffer is full far to the right, at {full / bdp:.3g} BDP."
            full = None
        top_rate = max(min(top_rate, 2 * capacity), 1.12 * capacity)
        top_rtt = max(top_rtt, 8e3 * min(right, full or right) / capacity)
        bottom_rtt = max(0.0, known.base_rtts_s[0] * 1e3 - 0.16 * (top_rtt - known.base_rtts_s[0] * 1e3))
        for base in few(known.base_rtts_s):
            knee = capacity * base / 8
            rate_limits.append(Limit(f"capacity {words.rate(capacity)}", (0, knee, 9 * right), (0, capacity, capacity)))
            # Packets beyond a full buffer were dropped: they delay nobody.
            end = knee + room * share if room is not None else 9 * right
            slope = (base * 1e3, base * 1e3, end * 8e3 / capacity, end * 8e3 / capacity)
            rtt_limits.append(Limit(f"base {words.seconds(base)}", (0, knee, end, max(end, 9 * right)), slope))
        note += _LINES + (" The capacity is that of the fastest path." if known.has_several else "")
    else:
        note += "  No limits are drawn: the capacity changes." if way is not None else "  No link limits the rate."
    if left_out:
        note += f"  Not drawn: {words.count(len(left_out), 'more flow')}."
    return Frame(
        bdp,
        full,
        tuple(rate_limits),
        tuple(rtt_limits),
        1.04 * top_rate,
        1.04 * top_rtt,
        bottom_rtt,
        1.04 * right,
        note,
    )
