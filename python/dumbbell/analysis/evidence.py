"""What a run tells about its own fidelity, gathered from its records. The rules in `verdict` judge it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.analysis import pace
from dumbbell.records.files import read_json

if TYPE_CHECKING:
    from dumbbell.records.run import Run

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Evidence:
    """The engine's own accounts, and what the tables say about them."""

    plan: Json
    """plan.json"""
    emulator: Json
    """emulator.json"""
    traffic: Json
    """traffic.json"""
    lab: Json
    """lab.json"""
    achieved_bps: Mapping[str, float | None]
    """For each link with a rate limit: the rate while it was busy, or `None` if it hardly was."""
    logged_packets: Mapping[str, int] | None
    """Rows of `packets` per link; `None` if packets were not recorded."""
    min_rtt_us: Mapping[str, int]
    """The smallest RTT that TCP measured, per flow that has one."""

    @classmethod
    def of(cls, run: Run) -> Evidence:
        """Read the evidence of `run`."""
        import polars as pl

        limited = [link for link in run.plan["links"] if link["rate_bps"] is not None]
        logged: dict[str, int] | None = None
        # Without packets there is no record of when they were really sent.
        achieved: dict[str, float | None] = {}
        if run.has("packets"):
            packets = run.scan("packets")
            achieved = {link["name"]: pace.achieved_rate_bps(packets, link) for link in limited}
            logged = dict(packets.group_by(pl.col("link").cast(pl.String)).len().collect().iter_rows())
        rtts = (
            run.scan("samples")
            .filter(pl.col("min_rtt_us").is_not_null())
            .group_by(pl.col("flow").cast(pl.String))
            .agg(pl.col("min_rtt_us").min())
            .collect()
        )
        return cls(
            plan=run.plan,
            emulator=read_json(run.directory / "emulator.json"),
            traffic=read_json(run.directory / "traffic.json"),
            lab=read_json(run.directory / "lab.json"),
            achieved_bps=achieved,
            logged_packets=logged,
            min_rtt_us=dict(rtts.iter_rows()),
        )
