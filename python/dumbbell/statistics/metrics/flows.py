"""Metrics of one flow, or of several together."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.statistics.metrics.model import OF_ALGORITHMS, OF_FLOWS, Metric, capacities_bps, over_flows, ratio
from dumbbell.units.mtu import ETHERNET, MTU, TCP, segment_bytes

_lifetime_s = pl.col("stop_s") - pl.col("start_s")
_lasted_s = pl.col("stop_s").max() - pl.col("start_s").min()
_received = pl.col("received_bytes").sum()
_sent_again = pl.col("retransmitted_segments").sum()
_is_tcp = pl.col("retransmitted_segments").is_not_null()
_has_tcp = _is_tcp.any()
_sent_bytes = pl.col("sent_bytes").filter(_is_tcp).sum()
_segment_bytes = (pl.col("frame_bytes") - pl.col("ip_header_bytes") - (ETHERNET + TCP)).first()
_fct_s = pl.when("has_size").then(pl.col("fct_s").fill_null(float("inf")))
"""A completion time above all others, for a flow that was not completed."""
_UNFINISHED: Final = "none if it falls among those that were not completed, which count as the longest"

METRICS: Final = (
    Metric(
        "goodput",
        "Goodput",
        "bit/s",
        "higher",
        OF_FLOWS,
        "8 · Σ received_bytes ÷ (last stop_s - first start_s), over the flows in question",
        "RFC 2647, section 3.17",
        over_flows(ratio(8 * _received, _lasted_s)),
        ceilings=capacities_bps,
    ),
    Metric(
        "application_rate",
        "Application's sending rate per connection",
        "bit/s",
        "higher",
        OF_FLOWS,
        "mean over the TCP connections of 8 · sent_bytes ÷ (stop_s - start_s); sent_bytes: payload sent at least once",
        "iperf3 prints it at the sender; goodput counts what arrived, throughput also repetitions",
        over_flows(ratio(8 * pl.col("sent_bytes"), _lifetime_s).filter(_is_tcp).mean()),
    ),
    Metric(
        "goodput_share",
        "Share of bandwidth",
        "share",
        "neither",
        ("algorithm", "group", "flow"),
        "Σ received_bytes of the flows in question ÷ Σ received_bytes of all flows of the run",
        "RFC 5166, section 2.3, on fairness between flows; a flow that starts later had less time",
        over_flows(ratio(_received, pl.col("run_received_bytes").first())),
    ),
    Metric(
        "retransmitted_share",
        "Share of segments retransmitted",
        "share",
        "lower",
        OF_ALGORITHMS,
        "Σ retransmitted_segments ÷ (Σ sent_bytes ÷ segment + Σ retransmitted_segments), of TCP flows",
        "RFC 5166, section 2.1: what is sent again is throughput, not goodput; segments are taken as full, "
        f"{segment_bytes(MTU)} bytes at an MTU of {MTU} in IPv4",
        over_flows(ratio(_sent_again, _sent_bytes / _segment_bytes + _sent_again)),
    ),
    *(
        Metric(
            f"fct_{name}",
            f"Flow completion time, {word}",
            "s",
            "lower",
            OF_ALGORITHMS,
            f"{word} of fct_s over the flows in question that have a size, {unknown}",
            "N. Dukkipati and N. McKeown: Why Flow-Completion Time is the Right Metric for Congestion Control, "
            "ACM SIGCOMM CCR 36(1), 2006",
            over_flows(pl.when(value.is_finite()).then(value)),
        )
        for name, word, value, unknown in (
            ("mean", "mean", _fct_s.mean(), "none unless all of them were completed"),
            ("p50", "median", _fct_s.quantile(0.50, "linear"), _UNFINISHED),
            ("p95", "95th percentile", _fct_s.quantile(0.95, "linear"), _UNFINISHED),
            ("p99", "99th percentile", _fct_s.quantile(0.99, "linear"), _UNFINISHED),
        )
    ),
    Metric(
        "completed_share",
        "Share of flows that were completed",
        "share",
        "higher",
        OF_ALGORITHMS,
        "flows in question that were completed ÷ those that have a size",
        "as fct_mean: without it, completion times tell of survivors",
        over_flows(pl.col("fct_s").is_not_null().filter(pl.col("has_size")).mean()),
    ),
    Metric(
        "convergence_time",
        "Convergence time",
        "s",
        "lower",
        OF_FLOWS,
        "largest convergence_s of the bulk TCP flows in question, none if one of them has not converged",
        "RFC 5166, section 2.3; M. Dong, Q. Li, D. Zarchy, P. B. Godfrey, M. Schapira: PCC: Re-architecting Congestion "
        "Control for Consistent High Performance, NSDI 2015, section 4.2.2",
        over_flows(pl.when(pl.col("converged").all()).then(pl.col("convergence_s").max())),
    ),
    Metric(
        "converged_share",
        "Share of flows that converged",
        "share",
        "higher",
        OF_FLOWS,
        "bulk TCP flows in question that have converged ÷ those of which that can be told",
        "as convergence_time",
        over_flows(pl.col("converged").mean()),
    ),
)
