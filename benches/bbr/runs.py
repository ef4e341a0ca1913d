"""Many short runs of the kernel in virtual time, several at once, and what is measured of each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

import dumbbell
from dumbbell import execute
from dumbbell.engines.names import VIRTUAL
from dumbbell.engines.registry import engine
from dumbbell.scenario import load

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

ALGORITHMS = ("cubic", "bbr", "bbr2", "bbr3")
NAMES = {"cubic": "CUBIC", "bbr": "BBRv1", "bbr2": "BBRv2", "bbr3": "BBRv3"}
COLOURS = {"cubic": "#6b7280", "bbr": "#0072b2", "bbr2": "#d55e00", "bbr3": "#009e73"}

FRAME, PAYLOAD = 1514, 1448
"""Bytes of a full frame, and of what it carries for the application."""
RUNS = Path("runs/bbr-evidence")
PICTURES = Path(__file__).parents[2] / "docs" / "images" / "bbr"


def scenario(
    rate_mbit: float,
    rtt_ms: float,
    seconds: float,
    flows: Sequence[str],
    buffer: str = "1 bdp",
    loss_percent: float = 0,
) -> dict[str, Any]:
    """Flows of the named algorithms from one host each, over one bottleneck, all from the start, without records."""
    bottleneck: dict[str, Any] = {"rate": f"{rate_mbit:g} Mbit/s", "buffer": buffer}
    if loss_percent:
        bottleneck["loss"] = f"{loss_percent:f} %"
    return {
        "name": "bbr-evidence",
        "duration": f"{seconds:g} s",
        "topology": {"kind": "dumbbell", "pairs": len(flows), "rtt": f"{rtt_ms:g} ms", "bottleneck": bottleneck},
        "flows": [{"from": f"s{i}", "to": f"r{i}", "cc": cc} for i, cc in enumerate(flows, 1)],
        "record": {"packets": False, "acks": False},
    }


def bdp_packets(rate_mbit: float, rtt_ms: float) -> float:
    """Full frames."""
    return rate_mbit * 1e6 * rtt_ms / 1e3 / 8 / FRAME


def goodput_share(run: dumbbell.Run, flow: str, rate_mbit: float, begin_s: float) -> float:
    """Goodput from `begin_s` on, as a share of what the bottleneck could carry."""
    mine = run.samples.filter((pl.col("flow") == flow) & (pl.col("time_ns") >= begin_s * 1e9)).sort("time_ns")
    span_s = (mine["time_ns"][-1] - mine["time_ns"][0]) / 1e9
    received = mine["received_bytes"][-1] - mine["received_bytes"][0]
    return float(received * 8 / span_s / (rate_mbit * 1e6 * PAYLOAD / FRAME))


def retransmitted_share(run: dumbbell.Run, flow: str) -> float:
    """Retransmitted payload as a share of all payload sent."""
    last = run.samples.filter(pl.col("flow") == flow).sort("time_ns").tail(1)
    return float(last["bytes_retransmitted"][0] / last["bytes_sent"][0])


def run_all(
    wanted: Mapping[Key, dict[str, Any]], measure: Callable[[dumbbell.Run], Result], jobs: int
) -> dict[Key, Result]:
    """Run all of `wanted`, `jobs` at a time, and `measure` each run.

    Runs are kept in `RUNS` and never repeated, so that a measurement that was cut short goes on where it was. A run
    that is not valid is an error once the others are done: no figure comes from it.
    """
    kernel = engine(VIRTUAL)
    batch = [execute.Job(key, load(it), kernel, RUNS, 1, only_valid=True) for key, it in wanted.items()]
    carried = execute.run_jobs(batch, measure, jobs, _tell)
    print(file=sys.stderr)
    for key, why in carried.refused.items():
        print(f"{key}: no figure comes from this run: {why}", file=sys.stderr)
    if carried.refused:
        raise SystemExit(1)
    return carried.results


def _tell(progress: execute.Progress) -> None:
    print(f"\r\x1b[K{progress}", end="", file=sys.stderr, flush=True)
