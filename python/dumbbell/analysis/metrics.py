"""Metrics of a run: pure functions of its tables, each with its formula and source.

Times are nanoseconds since the run's origin, rates bits per second. A metric that the records cannot give is `None`,
never 0 and never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from dumbbell.analysis.sockets import carrying
from dumbbell.plan.routes import path, transparent_links

SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class Percentiles:
    """Order statistics of one quantity, by linear interpolation between ranks."""

    p50: float
    p95: float
    max: float


@dataclass(frozen=True)
class Rtt:
    """Round-trip times of one flow, in ms."""

    min: float | None
    p50: float | None
    p95: float | None


def active_end_ns(
    flow: Mapping[str, Any], measured: Mapping[str, Any], run_end_ns: int, last_sample_ns: int | None
) -> int:
    """When `flow` ceased to be active: not when it last received something, or a starved flow would not count.

    A flow that failed ended with its last sample, which is taken as it fails. A sized flow ended when it was complete,
    an external program that ended by itself with its last byte. Every other one ended at its stop, or with the run.

    Args:
        flow: the plan's.
        measured: what `traffic.json` says of it.
        run_end_ns: the planned duration, or when the run was interrupted.
        last_sample_ns: of the flow; `None` if it was never sampled.
    """
    latest = min(flow["stop_ns"], run_end_ns)
    if measured["error"] is not None:
        ended = measured["end_ns"] if last_sample_ns is None else last_sample_ns
    elif flow["workload"]["kind"] == "command":
        programs = measured["command"]
        ended = measured["end_ns"] if programs is not None and not programs["ended_by_us"] else None
    else:
        sized = flow["workload"]["bytes"] is not None
        ended = measured["end_ns"] if sized and measured["completed"] else None
    return latest if ended is None else int(min(ended, run_end_ns))


def goodput_bps(received_bytes: int, start_ns: int, end_ns: int) -> float | None:
    """Goodput: bytes that the receiver's application read, over the flow's active time.

        goodput = 8 * received_bytes / (end - start)

    `start_ns` is when the flow began to connect, `end_ns` as `active_end_ns` says, so time in which nothing came
    counts; headers, retransmissions and bytes still in flight do not (RFC 2647 section 3.17). `None` without a time.
    """
    if end_ns <= start_ns:
        return None
    return 8 * received_bytes * SECOND_NS / (end_ns - start_ns)


def jain_index(values: Sequence[float]) -> float | None:
    """Jain's fairness index: (sum x)^2 / (n * sum x^2), from 1/n (one has all) to 1 (all have the same).

    R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared
    Computer Systems, DEC-TR-301, 1984. `None` for fewer than two values or if all are 0.
    """
    squares = sum(value * value for value in values)
    if len(values) < 2 or squares == 0:
        return None
    return float(sum(values) ** 2 / (len(values) * squares))


def common_window(active: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """The time in which all of `active` (pairs of start and end, ns) overlap; `None` if there is none."""
    spans = list(active)
    if not spans:
        return None
    start, end = max(start for start, _ in spans), min(end for _, end in spans)
    return (start, end) if start < end else None


def received_in_window(samples: pl.LazyFrame, flows: Sequence[str], start_ns: int, end_ns: int) -> dict[str, int]:
    """Bytes that each of `flows` received between two times: the counter's last value by `end` minus that by `start`.

    A counter without a value by then counts as 0. Times are rounded down to the sampling interval.
    """
    frame = (
        samples.filter(pl.col("received_bytes").is_not_null() & (pl.col("time_ns") <= end_ns))
        .group_by(pl.col("flow").cast(pl.String))
        .agg(
            pl.col("received_bytes").max().alias("end"),
            pl.col("received_bytes").filter(pl.col("time_ns") <= start_ns).max().fill_null(0).alias("start"),
        )
        .collect()
    )
    received = {flow: int(end) - int(start) for flow, end, start in frame.iter_rows()}
    return {flow: received.get(flow, 0) for flow in flows}


def rtt_ms(samples: pl.LazyFrame) -> dict[str, Rtt]:
    """RTT of each flow, from the kernel's estimates as sampled, in ms.

    `min` is the smallest `min_rtt` (minimum of all of the connection's RTT samples within the kernel's window of
    300 s). `p50` and `p95` are percentiles over time of `srtt`, the *smoothed* RTT (RFC 6298: 1/8 of each new sample),
    so short spikes are flattened; the queueing delay of the `packets` table is exact. Of a flow with several
    connections, those count that carried its data.
    """
    frame = (
        carrying(samples, "bytes_acked")
        .group_by(pl.col("flow").cast(pl.String))
        .agg(
            pl.col("min_rtt_us").min().alias("min"),
            pl.col("srtt_us").quantile(0.50, "linear").alias("p50"),
            pl.col("srtt_us").quantile(0.95, "linear").alias("p95"),
        )
        .collect()
    )
    return {flow: Rtt(*(None if us is None else us / 1000 for us in row)) for flow, *row in frame.iter_rows()}


def wire_bytes(link: Mapping[str, Any]) -> pl.Expr:
    """Bytes that a row of `packets` counts on `link`: its frame and the link's overhead."""
    return pl.col("size_bytes").cast(pl.Int64) + int(link["overhead_bytes"])


def queueing_delay_ms(packets: pl.LazyFrame) -> dict[str, Percentiles]:
    """Queueing delay at each link, over packets that left it, in ms: how long each was in the queue (`sojourn_ns`).

    Exact for any discipline and any rate. Each packet counts once. A link that no packet left is not in it.
    """
    left = packets.filter(pl.col("departure_ns").is_not_null())
    return _percentiles(left.select(pl.col("link").cast(pl.String), delay=pl.col("sojourn_ns") / 1e6), "link")


def flow_queueing_delay_ms(packets: pl.LazyFrame, plan: Mapping[str, Any]) -> dict[str, Percentiles]:
    """Queueing delay of each flow's packets from sender to receiver: the sum of their sojourn times on the way, in ms.

    Over packets that reached the receiver, each counting once, copies excluded.
    """
    on_path = _there(packets, plan).filter(pl.col("sojourn_ns").is_not_null() & ~pl.col("duplicate"))
    waited = on_path.group_by("flow", "packet").agg(
        delay=pl.col("sojourn_ns").sum() / 1e6, arrived=(pl.col("last") & _DELIVERED).any()
    )
    return _percentiles(waited.filter("arrived").select("flow", "delay"), "flow")


@dataclass(frozen=True)
class Marked:
    """Packets of one flow that arrived with Congestion Experienced."""

    packets: int
    share: float
    """Of those that arrived."""


def marked(packets: pl.LazyFrame, plan: Mapping[str, Any]) -> dict[str, Marked]:
    """For each flow that uses ECN: how many of its packets arrived at the receiver marked Congestion Experienced.

        share = packets with codepoint CE / ECN-capable packets, of those that left the last recorded link of the path

    Acknowledgements don't count (RFC 3168 section 6.1.4: they are not ECN-capable).
    """
    arrived = _there(packets, plan).filter(pl.col("last") & _DELIVERED & (pl.col("ecn").cast(pl.String) != "not-ect"))
    counted = arrived.group_by("flow").agg(n=pl.len(), ce=(pl.col("ecn").cast(pl.String) == "ce").sum()).collect()
    return {flow: Marked(int(ce), ce / n) for flow, n, ce in counted.select("flow", "n", "ce").iter_rows()}


_DELIVERED = pl.col("fate").cast(pl.String) == "delivered"


def _there(packets: pl.LazyFrame, plan: Mapping[str, Any]) -> pl.LazyFrame:
    """Rows of packets on their flow's way from sender to receiver; `last` where no later link is recorded."""
    counted_only = transparent_links(plan)
    paths = {
        flow["id"]: [link["name"] for link in path(plan, flow["from"], flow["to"]) if link["name"] not in counted_only]
        for flow in plan["flows"]
    }
    steps = [(flow, name, name == names[-1]) for flow, names in paths.items() for name in names]
    ways = pl.LazyFrame(steps, schema={"flow": pl.String, "link": pl.String, "last": pl.Boolean}, orient="row")
    return packets.with_columns(pl.col("flow", "link").cast(pl.String)).join(ways, on=["flow", "link"])


def queueing_delay_from_links_ms(links: pl.LazyFrame, name: str, rate_bps: int) -> Percentiles | None:
    """Queueing delay at link `name` where packets were not recorded: waiting bytes / rate when sampled, in ms.

    For links of constant rate whose packets leave in the order of their arrival. `max` is of the largest queue within
    each interval.
    """
    per_byte = 8e3 / rate_bps
    rows = links.filter(pl.col("link") == name)
    waiting = rows.select(pl.col("link").cast(pl.String), delay=pl.col("queue_bytes") * per_byte)
    sampled = _percentiles(waiting, "link").get(name)
    if sampled is None:
        return None
    largest = rows.select(pl.col("queue_bytes_max").max()).collect().item()
    return Percentiles(sampled.p50, sampled.p95, max(sampled.max, largest * per_byte))


def utilisation(links: pl.LazyFrame, name: str, start_ns: int, end_ns: int) -> float | None:
    """Share of link `name`'s capacity that was used between two times.

        utilisation = (departed_bytes(end) - departed_bytes(start)) / (capacity_bytes(end) - capacity_bytes(start))

    both as cumulated in the `links` table by the last sampling time that is not after `start` or `end`, so it holds for
    any rate. A packet counts when its last bit leaves: exact to within one packet. `None` for a link that had no rate
    at a time between them, and if nothing could have been sent.
    """
    rows = links.filter((pl.col("link") == name) & (pl.col("time_ns") <= end_ns)).sort("time_ns").collect()
    within = rows.filter(pl.col("time_ns") > start_ns)
    before = rows.filter(pl.col("time_ns") <= start_ns).tail(1)
    if within.is_empty() or within["capacity_bytes"].has_nulls() or before["capacity_bytes"].has_nulls():
        return None
    used, possible = (
        int(within[counter].item(-1)) - int(before[counter].sum()) for counter in ("departed_bytes", "capacity_bytes")
    )
    return used / possible if possible > 0 else None


def marked_share(links: pl.LazyFrame) -> dict[str, float]:
    """Share of the packets that left each link on which it set Congestion Experienced; only links that sent any."""
    last = links.sort("time_ns").group_by(pl.col("link").cast(pl.String)).last()
    counted = last.filter(pl.col("departed_packets") > 0)
    return dict(counted.select("link", pl.col("marked_packets") / pl.col("departed_packets")).collect().iter_rows())


def completion_s(size_bytes: int | None, start_ns: int, end_ns: int | None, completed: bool) -> float | None:
    """Flow completion time: from the start of the connection until the receiver's application has all bytes, in s.

    `None` for a flow without a size, or one that did not finish.
    """
    if size_bytes is None or end_ns is None or not completed:
        return None
    return (end_ns - start_ns) / SECOND_NS


def _percentiles(delays: pl.LazyFrame, key: str) -> dict[str, Percentiles]:
    column = pl.col("delay")
    rows = (
        delays.group_by(key)
        .agg(
            column.quantile(0.50, "linear").alias("p50"),
            column.quantile(0.95, "linear").alias("p95"),
            column.max().alias("max"),
        )
        .drop_nulls()
        .collect()
    )
    return {name: Percentiles(*map(float, values)) for name, *values in rows.iter_rows()}
