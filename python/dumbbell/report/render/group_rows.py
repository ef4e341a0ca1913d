"""A table of many flows: a row for each group of flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dumbbell.report import words
from dumbbell.report.model import Group

COLUMNS: Final = (
    "flows",
    "received",
    "goodput p50",
    "RTT p50 (ms)",
    "retransmitted",
    "completed",
    "FCT p50",
    "FCT p95",
)
"""Quantiles are over the flows of a group; RTT p50 is the median of their medians. FCT: flow completion times."""


def rows(flows: Sequence[Mapping[str, Any]], groups: Sequence[Group]) -> list[list[str]]:
    """The rows, from the `flows` of a run's summary, in the order of `groups`."""
    by_name = {flow["id"]: flow for flow in flows}
    return [_row(group, [by_name[name] for name in group.flows if name in by_name]) for group in groups]


def _row(group: Group, flows: Sequence[Mapping[str, Any]]) -> list[str]:
    goodputs = _known(flow["goodput_bps"] for flow in flows)
    resent = _known(flow["retransmitted_segments"] for flow in flows)
    times = _known(flow["fct_s"] for flow in flows)
    rtt_ms = _quantile(_known(flow["rtt_ms"]["p50"] for flow in flows), 0.5)
    return [
        group.label,
        words.size(sum(flow["received_bytes"] for flow in flows)),
        words.measured_rate(_quantile(goodputs, 0.5)),
        words.milliseconds(rtt_ms),
        words.count(int(sum(resent))) if resent else words.UNKNOWN,
        f"{len(times)} of {len(flows)}" if times else words.UNKNOWN,
        *(words.UNKNOWN if not times else words.seconds(round(_quantile(times, at) or 0, 3)) for at in (0.5, 0.95)),
    ]


def _known(values: Any) -> list[float]:
    return [value for value in values if value is not None]


def _quantile(values: Sequence[float], at: float) -> float | None:
    import polars as pl

    return pl.Series(values, dtype=pl.Float64).quantile(at, "linear") if values else None
