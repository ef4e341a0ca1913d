"""Work for the simulator, and its cost in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario import load

MSS = 1448
"""Payload of a full segment: what a data packet is here."""


def dumbbell(
    cc: str,
    flows: int,
    rate: str = "100 Mbit/s",
    rtt: str = "50 ms",
    seconds: float = 60,
    spacing_ms: float = 0,
    record: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The plan of `flows` bulk flows over a bottleneck with a buffer of a BDP, starting one after the other."""
    pairs = min(flows, 250)
    plan = expand(
        load(
            {
                "name": f"{cc}-{flows}",
                "duration": f"{seconds} s",
                "topology": {
                    "kind": "dumbbell",
                    "pairs": pairs,
                    "rtt": rtt,
                    "bottleneck": {"rate": rate, "buffer": "1 bdp"},
                },
                "record": {"packets": False, "acks": False, **(record or {})},
                "flows": [
                    {
                        "from": f"s{i % pairs + 1}",
                        "to": f"r{i % pairs + 1}",
                        "cc": cc,
                        "start": f"{i * spacing_ms:g} ms",
                    }
                    for i in range(flows)
                ],
            }
        )
    )
    return document(plan)


@dataclass(frozen=True)
class Cost:
    """The cost of a call that simulated one run or many."""

    cpu_s: float
    """CPU time of all threads, reading the plan and writing the shards included."""
    wall_s: float
    rss_bytes: int
    """The most that the process grew."""
    packets: int
    """Data packets delivered."""
    goodput_bps: float
    """Goodput of all flows of a run, mean over the runs."""
    jain_index: float | None

    @property
    def packets_per_cpu_s(self) -> float:
        """Delivered data packets per CPU second."""
        return self.packets / self.cpu_s


def cost(plan: dict[str, Any], seeds: Sequence[int] = (1,), threads: int = 1) -> Cost:
    """Simulate `plan` with each of `seeds` in a fresh process, keeping summaries, and say what it cost."""
    with tempfile.TemporaryDirectory() as directory:
        order = {"plan": plan, "seeds": list(seeds), "threads": threads, "directory": directory}
        child = [sys.executable, "-m", "benches.simulator.work"]
        done = subprocess.run(child, input=json.dumps(order), capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        flows, runs = (pl.read_parquet(Path(directory) / "*" / f"{table}.parquet") for table in ("flows", "runs"))
    errors = runs["error"].drop_nulls()
    if len(errors):
        raise SystemExit(f"a run failed: {errors[0]}")
    received = int(flows["received_bytes"].sum())
    seconds = plan["duration_ns"] / 1e9 * len(seeds)
    return Cost(**told, packets=received // MSS, goodput_bps=8 * received / seconds, jain_index=runs["jain_index"][0])


def _main() -> None:
    """The child: do what standard input says, and write what it cost."""
    from resource import RUSAGE_SELF, getrusage
    from time import monotonic

    from dumbbell import _core

    order = json.load(sys.stdin)
    plans = [json.dumps(order["plan"])]
    runs = [(0, 0, i, seed, f"{i:012x}") for i, seed in enumerate(order["seeds"])]
    before_bytes = _memory("VmRSS")
    # The peak counts from here on (proc(5)): reading the order is over.
    Path("/proc/self/clear_refs").write_text("5")
    began, before = monotonic(), getrusage(RUSAGE_SELF)
    _core.simulate_many(plans, runs, order["directory"], lambda event: True, shard_runs=64, threads=order["threads"])
    after = getrusage(RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = {"cpu_s": cpu_s, "wall_s": monotonic() - began, "rss_bytes": _memory("VmHWM") - before_bytes}
    json.dump(told, sys.stdout)


def _memory(field: str) -> int:
    """Memory of this process, in bytes."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    _main()
