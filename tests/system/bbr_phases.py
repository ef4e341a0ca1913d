"""Phases of BBRv2 and BBRv3 in the record of every ACK."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import dumbbell

VERSIONS = ["bbr2", "bbr3"]

GAINS = {
    "startup": {"bbr2": 2.885, "bbr3": 2.77},
    "drain": {"bbr2": 0.344, "bbr3": 0.344},
    "probe_bw_down": {"bbr2": 0.75, "bbr3": 0.91},
    "probe_bw_cruise": {"bbr2": 1, "bbr3": 1},
    "probe_bw_refill": {"bbr2": 1, "bbr3": 1},
    "probe_bw_up": {"bbr2": 1.25, "bbr3": 1.25},
    "probe_rtt": {"bbr2": 1, "bbr3": 1},
}

NEXT = {
    "startup": {"drain"},
    "drain": {"probe_bw_down", "probe_bw_cruise"},
    "probe_bw_down": {"probe_bw_cruise", "probe_bw_refill", "probe_rtt"},
    "probe_bw_cruise": {"probe_bw_refill", "probe_rtt"},
    "probe_bw_refill": {"probe_bw_up", "probe_rtt"},
    "probe_bw_up": {"probe_bw_down", "probe_bw_cruise", "probe_rtt"},
    "probe_rtt": {"probe_bw_cruise"},
}
"""DOWN may begin and end with the same ACK."""


def acks(run: dumbbell.Run) -> pl.DataFrame:
    """Rows of the algorithm itself."""
    table = run.acks
    assert table is not None
    return table.filter(pl.col("moment") == "after").with_columns(pl.col("bbr_state").cast(pl.String))


def phases(rows: pl.DataFrame) -> list[Mapping[str, Any]]:
    """One after the other: state, first and last time in seconds, least window."""
    changed = (pl.col("bbr_state") != pl.col("bbr_state").shift()).fill_null(True)
    by_phase = rows.with_columns(changed.cum_sum().alias("phase")).group_by("phase", maintain_order=True)
    return by_phase.agg(
        state=pl.col("bbr_state").first(),
        since=pl.col("time_ns").min() / 1e9,
        until=pl.col("time_ns").max() / 1e9,
        cwnd=pl.col("cwnd_packets").min(),
    ).to_dicts()


def assert_phases_follow(rows: pl.DataFrame, cc: str) -> None:
    """Each phase comes after one that may precede it, and has its gain."""
    states = [phase["state"] for phase in phases(rows)]
    assert states[:2] == ["startup", "drain"]
    for now, then in itertools.pairwise(states):
        assert then in NEXT[now], states
    for state in set(states):
        gains = rows.filter(pl.col("bbr_state") == state)["bbr_pacing_gain"].unique().to_list()
        assert gains == pytest.approx([GAINS[state][cc]], abs=0.005), state
