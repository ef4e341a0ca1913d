"""A study as a command leaves it on disk, with figures that are known beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dumbbell.studies import entries
from dumbbell.studies.directory import MANIFEST, SHARDS
from dumbbell.studies.entries import Entry
from dumbbell.studies.tables import SCHEMAS

SCENARIO = """\
name = "synthetic"
duration = "20 s"
seed = 1

[topology]
kind = "dumbbell"
rtt = "30 ms"
bottleneck = { rate = "100 Mbit/s", buffer = "1 bdp" }

[[flows]]
from = "s1"
to = "r1"
cc = "cubic"
"""


def _goodput_mbit(cell: Mapping[str, Any], cc: str) -> float:
    return 60.0 if cc == "bbr" else 30.0


@dataclass
class Synthetic:
    """Each cell's flows of `ccs` get `goodput_mbit` each, with noise of `spread`; 20 s each, a second apart.

    One that is called `udp` is UDP.
    """

    cells: Sequence[Mapping[str, Any]] = ({},)
    repeat: int = 5
    ccs: Sequence[str] = ("cubic", "bbr")
    goodput_mbit: Callable[[Mapping[str, Any], str], float] = _goodput_mbit
    spread: float = 0.02
    fct_s: float | None = None
    """Mean of exponential completion times; none: flows have no size."""
    base_rtt_ms: float = 30.0
    links: Mapping[str, float] = field(default_factory=lambda: {"bottleneck": 0.95})
    """The links, and for which share of their flows' time each was the bottleneck."""
    failed: Sequence[int] = ()
    """Runs that failed."""
    verdicts: Mapping[int, str] | None = None
    reasons: Mapping[int, str] | None = None
    scenario: str = SCENARIO
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def flows_of(self, cell: Mapping[str, Any]) -> Sequence[str]:
        """A cell that varies `flows` has those."""
        listed = cell.get("flows")
        return self.ccs if listed is None else str(listed).split("+")

    def write(self, directory: Path) -> Path:
        """Write it; return the directory."""
        runs, flows, links = [], [], []
        for repetition in range(self.repeat):
            for index, cell in enumerate(self.cells):
                run = len(runs)
                about = {"run": run, "run_id": f"{run:012x}"}
                failed = run in self.failed
                runs.append(
                    {**about, "cell": index, "repetition": repetition, "seed": 1 + repetition}
                    | {"error": "it broke" if failed else None, "packets": None if failed else 1000}
                    | {"jain_index": None if failed else 0.9, "jain_start_s": 1.0, "jain_stop_s": 20.0, "rpm": None}
                    | dict.fromkeys(("reconvergence_s", "outage_s", "rerouting_lost"))
                    | {
                        "verdict": (self.verdicts or {}).get(run, None if failed else "valid"),
                        "reasons": (self.reasons or {}).get(run),
                    }
                )
                if not failed:
                    flows += [about | row for row in self._flows(cell, index, repetition)]
                    links += [about | self._link(name, index, repetition) for name in self.links]
        shard = directory / SHARDS / f"{0:08}-{len(runs) - 1:08}"
        shard.mkdir(parents=True)
        for name, rows in (("runs", runs), ("flows", flows), ("links", links)):
            frame = pl.DataFrame(rows, infer_schema_length=None)
            frame = frame.cast({column: SCHEMAS[name][column] for column in frame.columns})
            frame.write_parquet(shard / f"{name}.parquet")
        manifest = {
            "name": "synthetic",
            "engine": "simulate",
            "status": "complete",
            "started_at": "2026-01-02T03:04:05+00:00",
            "scenario_source": "synthetic.toml",
            "overrides": [],
            "tool": {"dumbbell": "0.1.0", "core": "0.1.0"},
            "cells": [dict(cell) for cell in self.cells],
            "repetitions": self.repeat,
            "runs": len(runs),
            **self.manifest,
        }
        (directory / MANIFEST).write_text(json.dumps(manifest))
        (directory / "scenario.toml").write_text(self.scenario)
        entries.write(directory, [self._entries(cell) for cell in self.cells])
        return directory

    def _entries(self, cell: Mapping[str, Any]) -> list[Entry]:
        ends = [(f"f{i}", f"s{i}", f"r{i}") for i, _ in enumerate(self.flows_of(cell), 1)]
        return [Entry(*end, self.base_rtt_ms, self.fct_s is not None, 1514, 20) for end in ends]

    def _flows(self, cell: Mapping[str, Any], index: int, repetition: int) -> list[dict[str, Any]]:
        rng = np.random.default_rng([index, repetition])
        rows = []
        for i, cc in enumerate(self.flows_of(cell)):
            goodput = 1e6 * self.goodput_mbit(cell, cc) * (1 + self.spread * rng.standard_normal())
            took = None if self.fct_s is None else float(rng.exponential(self.fct_s))
            received = int(goodput * 20 / 8)
            is_tcp = cc != "udp"
            rows.append(
                dict.fromkeys(("id", "group"), f"f{i + 1}")
                | {"label": f"f{i + 1} {cc}", "from": f"s{i + 1}", "to": f"r{i + 1}"}
                | {
                    "protocol": "tcp" if is_tcp else cc,
                    "cc": cc if is_tcp else None,
                    "port": 5001 + i,
                    "start_s": float(i),
                    "stop_s": 20.0 + i,
                }
                | {"sent_bytes": received + 14480, "received_bytes": received, "goodput_bps": goodput}
                | {"throughput_bps": 1.01 * goodput, **dict.fromkeys(("ping_p50_ms", "ping_p99_ms", "ping_lost"))}
                | {"retransmitted_segments": 10 * (i + 1) if is_tcp else None, "rwnd_limited_share": 0.0}
                | {"rtt_min_ms": 30.0, "rtt_p50_ms": 40.0 + 10 * i, "rtt_p95_ms": 60.0, "fct_s": took}
                | dict.fromkeys(("converged", "convergence_s", "udp_lost", "jitter_ms"))
            )
        return rows

    def _link(self, name: str, index: int, repetition: int) -> dict[str, Any]:
        rng = np.random.default_rng([index, repetition, 1])
        dropped = {f"dropped_{why}": 0 for why in ("head", "early", "policed", "delay_line", "down")}
        used = 0.9 + 0.001 * float(rng.standard_normal())
        return (
            {"link": name, "utilisation": used, "drops": 20}
            | {"utilisation_busy": None if self.fct_s is None else used}
            | {"dropped_tail": 20, **dropped, "losses": 30, "marks": 0, "marked_share": 0.0, "duplicates": 0}
            | {"reordered": 0, "corrupted": 0, "arrived_packets": 1000, "delivered_packets": 950}
            | {"delivered_bytes": 950 * 1514, "queue_p50_ms": 5.0, "queue_p95_ms": 9.0, "queue_max_ms": 10.0}
            | {"bottleneck_share": self.links[name]}
        )
