"""A run directory made up by a formula, for tests of readers of runs. Nothing here was measured.

A fluid model, good enough to look like the real thing: windows share one bottleneck, CUBIC flows grow and are cut when
the buffer overflows, BBR flows cycle around their share. The same arguments give the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from graphs import transparent
from synthetic_acks import Bottleneck, acks

from dumbbell.plan.wire import part
from dumbbell.records.schema import SCHEMA, polars_schema

FRAME, MSS = 1514, 1448
DROPS = tuple(f"dropped-{reason}" for reason in ("tail", "head", "early", "policed", "delay-line", "down"))

SCENARIO = """\
# Written for tests: the records beside it are synthetic.
name = "bbr-vs-cubic"
duration = "20 s"
seed = 1

[topology]
kind = "dumbbell"
pairs = 2
bottleneck = { rate = "100 Mbit/s", buffer = "1 bdp", loss = "0 %" }
rtt = ["30 ms"]

[[flows]]
from = "s1"
to = "r1"
cc = "cubic"
start = "0 s"

[[flows]]
from = "s2"
to = "r2"
cc = "bbr"
start = "2 s"
"""


@dataclass
class Synthetic:
    """The parameters of the made-up run.

    `dropped_as`: fates that drops have in turn. `marked_share`: share of the packets that find a queue. `slow_from_s`:
    the bottleneck's rate varies, and is a quarter from then on. `events`: the time (s) and the content of each change.
    """

    name: str = "bbr-vs-cubic"
    ccs: tuple[str, ...] = ("cubic", "bbr")
    duration_s: float = 20.0
    rate_bps: float = 100e6
    rtt_s: float = 0.030
    sample_s: float = 0.010
    stagger_s: float = 2.0
    packets: bool = True
    acks: bool = False
    buffer_bdp: float = 1.0
    queue: dict[str, Any] = field(default_factory=lambda: {"kind": "drop-tail", "ce_threshold": None})
    dropped_as: tuple[str, ...] = ("dropped-tail",)
    marked_share: float = 0.0
    slow_from_s: float | None = None
    events: tuple[tuple[float, dict[str, Any]], ...] = ()
    jitter: bool = False
    sockets: int = 1
    engine: str = "emulate"
    verdict: str = "valid"
    checks: list[dict[str, str]] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=lambda: {"failed": 0, "excluded": 0})
    scenario: str = SCENARIO

    def write(self, directory: Path) -> Path:
        """Make the run directory `directory`."""
        directory.mkdir(parents=True)
        fluid = _Fluid(self)
        fluid.run()
        fluid.samples().write_parquet(directory / "samples.parquet")
        fluid.links().write_parquet(directory / "links.parquet")
        if self.packets:
            fluid.packets().write_parquet(directory / "packets.parquet")
        if self.acks:
            fluid.acks().write_parquet(directory / "acks.parquet")
        _dump(directory / "plan.json", _plan(self))
        _dump(directory / "summary.json", fluid.summary())
        _dump(directory / "manifest.json", _manifest(self))
        (directory / "scenario.toml").write_text(self.scenario)
        return directory


class _Fluid:
    """Windows of all flows over one bottleneck, one step per sample interval."""

    def __init__(self, spec: Synthetic) -> None:
        self.spec = spec
        self.n = len(spec.ccs)
        self.steps = round(spec.duration_s / spec.sample_s)
        self.bdp = spec.rate_bps * spec.rtt_s / 8
        self.buffer = int(self.bdp * spec.buffer_bdp)
        self.start = np.arange(self.n) * spec.stagger_s % (spec.duration_s / 2)
        self.is_bbr = np.array([cc.startswith("bbr") for cc in spec.ccs])
        self.is_udp = np.array([cc == "udp" for cc in spec.ccs])
        slow = np.inf if spec.slow_from_s is None else spec.slow_from_s
        self.up_at = np.ones(self.steps)
        for at, changes in spec.events:
            self.up_at[round(at / spec.sample_s) :] = changes.get("up", True)
        self.rate_at = np.where(np.arange(self.steps) * spec.sample_s < slow, spec.rate_bps, spec.rate_bps / 4)

    def run(self) -> None:
        n, steps, spec = self.n, self.steps, self.spec
        self.time = np.arange(steps) * spec.sample_s
        shape = (steps, n)
        self.cwnd, self.rate, self.rtt = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.drop = np.zeros(shape, dtype=np.int64)
        self.queue = np.zeros(steps)
        window = np.full(n, 10.0 * FRAME)
        peak, cut_at = np.full(n, 0.55 * self.bdp), np.full(n, -1e9)
        rng = np.random.default_rng(1)
        for step, now in enumerate(self.time):
            active = now >= self.start
            share = (self.bdp + 0.45 * self.buffer) / max(1, active.sum())
            since = now - np.maximum(cut_at, self.start)
            k = np.cbrt(0.3 * peak / FRAME / 0.4)
            cubic = np.maximum(10 * FRAME, FRAME * 0.4 * (since - k) ** 3 + peak)
            slow_start = (cut_at < 0) & ~self.is_bbr
            cubic = np.where(slow_start, np.minimum(10 * FRAME * 2 ** (since / 0.06), 2.5 * self.bdp), cubic)
            gain = np.array([1.25, 0.75, 1, 1, 1, 1, 1, 1])[int(now / 0.24) % 8]
            start_up = np.minimum(1.0, since / 0.5)
            bbr = share * start_up * (0.9 + 0.1 * gain)
            bbr = np.where(now % 10 > 9.8, 4 * FRAME, bbr)
            window = np.where(self.is_bbr, bbr, cubic) * active * rng.uniform(0.995, 1.005, n)
            window = np.where(self.is_udp, self.bdp / 10 * active, window)
            inflight = window.sum()
            queue = max(0.0, inflight - self.bdp)
            if queue > self.buffer:
                hit = active & ~self.is_bbr & (rng.random(n) < 0.8)
                self.drop[step] = np.where(active, np.ceil((queue - self.buffer) / FRAME / active.sum()), 0)
                peak, cut_at = np.where(hit, window, peak), np.where(hit, now, cut_at)
                queue = self.buffer
            rate = self.rate_at[step]
            rtt = spec.rtt_s + queue * 8 / rate
            self.queue[step] = queue
            self.cwnd[step] = window / FRAME
            self.rate[step] = window * 8 / rtt * min(1.0, 0.99 * rate * rtt / 8 / max(window.sum(), 1))
            self.rtt[step] = np.where(active, rtt, np.nan)

    def samples(self) -> pl.DataFrame:
        received = np.cumsum(self.rate * MSS / FRAME * self.spec.sample_s / 8, axis=0)
        lost = np.cumsum(self.drop, axis=0)
        frames = []
        for i, cc in enumerate(self.spec.ccs):
            on = self.time >= self.start[i]
            time_ns = np.round(self.time[on] * 1e9).astype(np.int64)
            if self.spec.jitter:
                time_ns = time_ns + np.random.default_rng(i).integers(0, int(self.spec.sample_s * 9e8), len(time_ns))
            tcp: dict[str, Any] = {
                "cwnd_packets": np.maximum(1, self.cwnd[on, i] / self.spec.sockets).astype(np.uint32),
                "snd_mss_bytes": np.full(on.sum(), MSS, dtype=np.uint32),
                "srtt_us": (self.rtt[on, i] * 1e6).astype(np.uint32),
                "min_rtt_us": np.full(on.sum(), round(self.spec.rtt_s * 1e6), dtype=np.uint32),
                "bytes_in_flight": (self.cwnd[on, i] * MSS / self.spec.sockets).astype(np.uint64),
                "retransmitted_segments": lost[on, i].astype(np.uint32),
                "bytes_acked": (received[on, i] / self.spec.sockets).astype(np.uint64),
            }
            for socket in range(self.spec.sockets):
                frames.append(
                    pl.DataFrame(
                        {
                            "time_ns": time_ns,
                            "flow": f"f{i + 1}",
                            "socket": np.full(on.sum(), 40000 + socket, dtype=np.uint16),
                            "bytes_sent": received[on, i].astype(np.uint64),
                            "received_bytes": received[on, i].astype(np.uint64) if self.spec.sockets == 1 else None,
                            **({} if cc == "udp" else tcp),
                        }
                    )
                )
        frame = pl.concat(frames, how="diagonal_relaxed")
        return _complete(frame, "samples").sort("time_ns", maintain_order=True)

    def links(self) -> pl.DataFrame:
        arrived = np.cumsum(self.rate.sum(axis=1) * self.spec.sample_s / 8)
        dropped = np.cumsum(self.drop.sum(axis=1))
        columns = {
            "time_ns": np.round(self.time * 1e9).astype(np.int64),
            "arrived_bytes": arrived,
            "arrived_packets": arrived / FRAME,
            "delivered_bytes": arrived,
            "dropped_packets": dropped,
            "lost_packets": dropped * 0,
            "marked_packets": arrived / FRAME * self.spec.marked_share,
            "capacity_bytes": np.cumsum(self.rate_at * self.up_at) * self.spec.sample_s / 8,
            "queue_bytes": self.queue,
            "queue_packets": self.queue / FRAME,
            "queue_bytes_max": self.queue,
        }
        forward = pl.DataFrame(columns | {"link": "bottleneck"})
        back = pl.DataFrame({k: v if k == "time_ns" else v * 0.02 for k, v in columns.items()})
        back = back.with_columns(link=pl.lit("bottleneck-reverse"), dropped_packets=0)
        return _complete(pl.concat([forward, back.select(forward.columns)], how="vertical_relaxed"), "links")

    def packets(self) -> pl.DataFrame:
        count = int(self.spec.duration_s * self.spec.rate_bps / 8 / FRAME * 0.98)
        rng = np.random.default_rng(2)
        time = np.sort(rng.uniform(0, self.spec.duration_s, count))
        queue = np.interp(time, self.time, self.queue)
        queue = np.clip(queue + rng.normal(0, 4, count) * FRAME * (queue > 0), 0, self.buffer)
        share = np.cumsum(self.rate, axis=1) / np.maximum(1, self.rate.sum(axis=1))[:, None]
        step = np.minimum((time / self.spec.sample_s).astype(int), self.steps - 1)
        flow = np.minimum((rng.random(count)[:, None] > share[step]).sum(axis=1), self.n - 1)
        fate = np.full(count, "delivered", dtype=object)
        for at, which in np.argwhere(self.drop > 0):
            first = np.searchsorted(time, self.time[at])
            mine = first + np.flatnonzero(flow[first : first + 4000] == which)[: self.drop[at, which]]
            fate[mine] = np.resize(self.spec.dropped_as, len(mine))
        arrival = np.round(time * 1e9).astype(np.int64)
        sojourn = (queue * 8 / self.rate_at[step] * 1e9).astype(np.int64)
        marked = (queue > 0) & (rng.random(count) < self.spec.marked_share) & (fate == "delivered")
        frame = pl.DataFrame(
            {
                "link": "bottleneck",
                "flow": [f"f{i + 1}" for i in flow],
                "packet": np.arange(count),
                "size_bytes": FRAME,
                "payload_bytes": MSS,
                "arrival_ns": arrival,
                "queue_bytes": queue // FRAME * FRAME,
                "queue_packets": queue // FRAME,
                "departure_ns": arrival + sojourn,
                "sojourn_ns": sojourn,
                "fate": fate.astype(str),
                "ecn": np.where(marked, "ce", "ect0" if self.spec.marked_share else "not-ect"),
                "mark": pl.Series(np.where(marked, "early", "")).replace("", None),
                "duplicate": False,
                "reordered": None,
                "corrupted": False,
            }
        ).with_columns(
            departure_ns=pl.when(pl.col("fate") == "delivered").then("departure_ns"),
            sojourn_ns=pl.when(pl.col("fate") != "dropped-tail").then("sojourn_ns"),
        )
        return _complete(frame, "packets")

    def acks(self) -> pl.DataFrame:
        path = Bottleneck(self.spec.rate_bps, self.spec.rtt_s, self.buffer, self.spec.duration_s)
        return _complete(acks(self.spec.ccs, self.start, path), "acks")

    def summary(self) -> dict[str, Any]:
        goodput = self.rate.mean(axis=0) * MSS / FRAME * self.spec.duration_s / (self.spec.duration_s - self.start)
        queue_ms = self.queue * 8e3 / self.spec.rate_bps
        flows = []
        for i, cc in enumerate(self.spec.ccs):
            rtt = self.rtt[~np.isnan(self.rtt[:, i]), i] * 1e3
            low, mid, high = np.percentile(rtt, [0, 50, 95]).tolist() if cc != "udp" else (None, None, None)
            flows.append(
                {
                    "id": f"f{i + 1}",
                    "label": f"f{i + 1} {cc}",
                    "from": f"s{i % 2 + 1}",
                    "to": f"r{i % 2 + 1}",
                    "protocol": "udp" if cc == "udp" else "tcp",
                    "cc": None if cc == "udp" else cc,
                    "start_s": float(self.start[i]),
                    "stop_s": self.spec.duration_s,
                    "goodput_bps": float(goodput[i]),
                    "received_bytes": int(goodput[i] * (self.spec.duration_s - self.start[i]) / 8),
                    "retransmitted_segments": None if cc == "udp" else int(self.drop[:, i].sum()),
                    "base_rtt_ms": self.spec.rtt_s * 1e3,
                    "rtt_ms": {"min": low, "p50": mid, "p95": high},
                    "queue_ms": None,
                    "ce_share": self.spec.marked_share or None,
                    "fct_s": None,
                }
            )
        p50, p95, top = np.percentile(queue_ms, [50, 95, 100]).tolist()
        nothing = dict.fromkeys(("losses", "marks", "duplicates", "reordered", "corrupted", "arrived_packets"), 0)
        link = {"rate_bps": int(self.spec.rate_bps), "marked_share": None} | nothing
        link["drops_by_reason"] = dict.fromkeys(DROPS, 0)
        drops = int(self.drop.sum())
        reasons = {reason: drops // len(self.spec.dropped_as) for reason in self.spec.dropped_as}
        n_marks = int(1e5 * self.spec.marked_share)
        return {
            "schema": SCHEMA,
            "name": self.spec.name,
            "run_id": "0123456789abcdef",
            "engine": self.spec.engine,
            "verdict": self.spec.verdict,
            "reasons": [check for check in self.spec.checks if check["verdict"] != "valid"],
            "checks": self.spec.checks or CHECKS,
            "duration_s": self.spec.duration_s,
            "flows": flows,
            "links": [
                link
                | {
                    "name": "bottleneck",
                    "utilisation": float(self.rate.sum(axis=1).mean() / self.rate_at.mean()),
                    "arrived_packets": 100_000,
                    "drops": drops,
                    "drops_by_reason": dict.fromkeys(DROPS, 0) | reasons,
                    "marks": n_marks,
                    "marked_share": self.spec.marked_share,
                    "queue_ms": {"p50": p50, "p95": p95, "max": top},
                },
                link
                | {
                    "name": "bottleneck-reverse",
                    "utilisation": 0.0211,
                    "drops": 0,
                    "queue_ms": {"p50": 0.0, "p95": 0.1, "max": 0.3},
                },
            ],
            "jain_index": float(goodput.sum() ** 2 / (self.n * (goodput**2).sum())),
            "attempts": self.spec.attempts,
        }


def _complete(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Fill absent columns with null, in the table's order and types."""
    schema = polars_schema(table)
    absent = [pl.lit(None).alias(name) for name in schema if name not in frame.columns]
    return frame.with_columns(absent).select(list(schema)).cast(schema)


def _plan(spec: Synthetic) -> dict[str, Any]:
    quarter = round(spec.rtt_s * 1e9 / 2)
    buffer = {"bytes": int(spec.rate_bps * spec.rtt_s / 8 * spec.buffer_bdp)}
    hosts = [f"{side}{i}" for side in "sr" for i in (1, 2)]

    def link(name: str, source: str, to: str, rate: int | None = None, delay: int = 0) -> dict[str, Any]:
        plain: dict[str, Any] = part(transparent(name, source, to, delay))
        return plain | {
            "rate_bps": rate,
            "buffer": buffer if rate else "unlimited",
        }

    bottleneck = link("bottleneck", "left", "right", int(spec.rate_bps), quarter) | {"queue": spec.queue}
    if spec.slow_from_s is not None:
        steps = [[0, int(spec.rate_bps)], [round(spec.slow_from_s * 1e9), int(spec.rate_bps / 4)]]
        bottleneck["variation"] = {"kind": "steps", "steps": steps, "period_ns": None}
    links = [
        bottleneck,
        link("bottleneck-reverse", "right", "left", int(spec.rate_bps), quarter),
    ]
    for host in hosts:
        near = "left" if host[0] == "s" else "right"
        links += [link(f"{host}-{near}", host, near), link(f"{near}-{host}", near, host)]
    flows = []
    for i, cc in enumerate(spec.ccs):
        udp = {"kind": "udp", "rate_bps": 10_000_000, "payload_bytes": 1472, "bytes": None}
        tcp = {"kind": "tcp", "cc": cc, "bytes": None, "ecn": False}
        start = round(i * spec.stagger_s % (spec.duration_s / 2) * 1e9)
        pair = i % 2 + 1
        flows.append(
            {"id": f"f{i + 1}", "from": f"s{pair}", "to": f"r{pair}", "start_ns": start, "port": 5001 + i}
            | {"stop_ns": round(spec.duration_s * 1e9), "workload": udp if cc == "udp" else tcp}
        )
    return {
        "name": spec.name,
        "duration_ns": round(spec.duration_s * 1e9),
        "seed": 1,
        "nodes": [{"kind": "host", "name": h, "address": f"10.0.0.{i + 1}", "sysctl": {}} for i, h in enumerate(hosts)]
        + [{"kind": "switch", "name": "left"}, {"kind": "switch", "name": "right"}],
        "links": links,
        "events": [{"at_ns": round(at * 1e9), "link": bottleneck | changes} for at, changes in spec.events],
        "flows": flows,
        "record": {"sample_interval_ns": round(spec.sample_s * 1e9), "packets": spec.packets},
        "emulate": {"ring_bytes": 67108864, "spin_ns": 20000, "arena_bytes": 268435456, "path": "wire"},
    }


def _manifest(spec: Synthetic) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "status": "complete",
        "run_id": "0123456789abcdef",
        "started_at": "2026-11-21T09:30:00+00:00",
        "tool": {"dumbbell": "0.1.0"},
        "engine": spec.engine,
        "machine": {
            "kernel": "6.12.0-synthetic",
            "cpu_model": "made-up CPU at 3.0 GHz",
            "cores": 2,
            "memory_bytes": 25_000_000_000,
            "distribution": "Debian GNU/Linux 12 (bookworm)",
        },
        "algorithms": [
            {
                "label": cc,
                "source": {"kind": "bundled", "name": cc},
                "parameters": {},
                "source_sha256": "0123456789abcdef",
                "registered": None if spec.engine == "simulate" else f"db{cc[-1]}_012345",
                "loaded": None if spec.engine == "simulate" else "run",
            }
            for cc in ("bbr2", "bbr3")
            if cc in spec.ccs
        ],
    } | (_SIMULATED if spec.engine == "simulate" else _EMULATED)


_EMULATED: dict[str, Any] = {
    "path": "wire",
    "lab": {"rootless": False, "sysctls": {"s1": {"net.ipv4.tcp_rmem": "4096 131072 8388608"}}},
    "cost": {"unit": "share of one core", "emulator": 0.31, "traffic": 0.095},
}
_SIMULATED: dict[str, Any] = {"cost": {"simulated_s": 20.0, "wall_s": 0.25, "cpu_s": 0.24, "times_real_time": 80.0}}


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2))


def _check(check: str, verdict: str, measured: str, threshold: str, why: str) -> dict[str, str]:
    return {"check": check, "verdict": verdict, "measured": measured, "threshold": threshold, "why": why}


CHECKS = [
    _check(
        "lateness", "valid", "p99 84 us", "<= 300 us", "A late packet adds delay that the scenario did not ask for."
    ),
    _check("late packets", "valid", "0.01 %", "<= 0.1 % over 1 ms", "Bursts of late packets look like queueing."),
    _check("conservation", "valid", "0 of 328,624 missing", "0", "Every packet is delivered, dropped or inside."),
    _check("ring drops", "valid", "0", "0", "Packets lost before the emulator saw them."),
    _check("CPU starvation", "valid", "0.4 %", "<= 2 %", "The emulator waited for a processor."),
]
LATE = _check(
    "lateness", "invalid", "p99 51,204 us", "<= 300 us", "The emulator was stopped, and packets left up to 51 ms late."
)
STARVED = _check(
    "CPU starvation", "suspect", "3.1 %", "<= 2 %", "Other work took the processor from the emulator for 620 ms."
)
