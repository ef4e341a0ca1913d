"""Metrics of a run: pure functions of its tables, each with its formula and source.

Times are nanoseconds since the run's origin, rates bits per second. A metric that the records cannot give is `None`,
never 0 and never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

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
    so short spikes are flattened; the queueing delay of the `packets` table is exact.
    """
    frame = (
        samples.group_by(pl.col("flow").cast(pl.String))
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


def serialisation_ns(link: Mapping[str, Any]) -> pl.Expr:
    """Time that a row of `packets` occupies the serializer of `link`: 8 * (frame + overhead) / rate, in ns."""
    return wire_bytes(link) * (8 * SECOND_NS / float(link["rate_bps"]))


def queueing_delay_ms(packets: pl.LazyFrame, link: Mapping[str, Any]) -> Percentiles | None:
    """Queueing delay at `link`, over packets that were not dropped, in ms.

        queueing delay = departure - arrival - serialisation of this packet

    Exact: arrival is the kernel's stamp, departure the link's own. Each packet counts once. `None` without packets, and
    for a link without a rate limit, on which none waits.
    """
    if link["rate_bps"] is None:
        return None
    delay = pl.col("departure_ns") - pl.col("arrival_ns") - serialisation_ns(link)
    return _percentiles(
        packets.filter((pl.col("link") == link["name"]) & pl.col("departure_ns").is_not_null()).select(
            # Departures are whole nanoseconds: an empty queue may come out as a fraction of one below 0.
            delay=delay.clip(lower_bound=0) / 1e6
        )
    )


def queueing_delay_from_links_ms(links: pl.LazyFrame, link: Mapping[str, Any]) -> Percentiles | None:
    """Queueing delay at `link` where packets were not recorded: waiting bytes / rate, at the sampling times, in ms.

    `max` is of the largest queue within each interval. `None` for a link without a rate limit.
    """
    if link["rate_bps"] is None:
        return None
    per_byte = 8e3 / link["rate_bps"]
    rows = links.filter(pl.col("link") == link["name"])
    sampled = _percentiles(rows.select(delay=pl.col("queue_bytes") * per_byte))
    if sampled is None:
        return None
    largest = rows.select(pl.col("queue_bytes_max").max()).collect().item()
    return Percentiles(sampled.p50, sampled.p95, max(sampled.max, largest * per_byte))


def utilisation(packets: pl.LazyFrame, link: Mapping[str, Any], start_ns: int, end_ns: int) -> float | None:
    """Share of `link`'s capacity that was used between two times.

        utilisation = 8 * (bytes of frames, with overhead, whose last bit left the serializer) / (rate * (end - start))

    `None` for a link without a rate limit. A packet counts when its last bit leaves, so the figure is exact to within
    one packet.
    """
    departed = packets.filter(
        (pl.col("link") == link["name"]) & pl.col("departure_ns").is_between(start_ns, end_ns, closed="right")
    )
    return _used(departed.select(wire_bytes(link).sum()).collect().item(), link["rate_bps"], end_ns - start_ns)


def utilisation_from_links(links: pl.LazyFrame, link: Mapping[str, Any], start_ns: int, end_ns: int) -> float | None:
    """As `utilisation`, from the cumulative counters of the `links` table, at its sampling times."""
    rows = links.filter((pl.col("link") == link["name"]) & (pl.col("time_ns") <= end_ns))
    wire = pl.col("departed_bytes")  # the links' counters have the overhead in them
    frame = rows.select(
        wire.max().fill_null(0).alias("end"),
        wire.filter(pl.col("time_ns") <= start_ns).max().fill_null(0).alias("start"),
    ).collect()
    end, start = frame.row(0)
    return _used(end - start, link["rate_bps"], end_ns - start_ns)


def completion_s(size_bytes: int | None, start_ns: int, end_ns: int | None, completed: bool) -> float | None:
    """Flow completion time: from the start of the connection until the receiver's application has all bytes, in s.

    `None` for a flow without a size, or one that did not finish.
    """
    if size_bytes is None or end_ns is None or not completed:
        return None
    return (end_ns - start_ns) / SECOND_NS


def _used(wire_bytes: int, rate_bps: int | None, span_ns: int) -> float | None:
    if rate_bps is None or span_ns <= 0:
        return None
    return float(8 * wire_bytes * SECOND_NS / (rate_bps * span_ns))


def _percentiles(delay: pl.LazyFrame) -> Percentiles | None:
    column = pl.col("delay")
    p50, p95, largest = (
        delay.select(
            column.quantile(0.50, "linear").alias("p50"),
            column.quantile(0.95, "linear").alias("p95"),
            column.max().alias("max"),
        )
        .collect()
        .row(0)
    )
    return None if largest is None else Percentiles(float(p50), float(p95), float(largest))
