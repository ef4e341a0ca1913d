"""A small run directory, as an engine would have written it, with every figure known in advance.

Two hosts are on a path: a bottleneck of 10 Mbit/s with 10 ms each way. Packets of 1514 bytes take 1.2112 ms each and
leave back to back from 10 ms on, alternately of f1 and f2; each arrives 5 ms before its last bit leaves.
"""

from __future__ import annotations

import atexit
import copy
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from graphs import transparent
from pydantic import TypeAdapter

from dumbbell.plan import wire
from dumbbell.plan.types import Link, Plan
from dumbbell.records.schema import SCHEMA, polars_schema

FRAME = 1514
RATE = 10_000_000
SERVICE_NS = FRAME * 8 * 100
DELAY_NS = 10_000_000
DURATION_NS = 2_000_000_000
PACKETS = (DURATION_NS - 10_000_000) // SERVICE_NS


def link(name: str, source: str, target: str, rate: int | None = RATE, **changes: Any) -> dict[str, Any]:
    return (
        wire.part(transparent(name, source, target, DELAY_NS))
        | {"rate_bps": rate, "buffer": {"bytes": 25_000}}
        | changes
    )


PLAN: dict[str, Any] = {
    "name": "synthetic",
    "duration_ns": DURATION_NS,
    "seed": 1,
    "nodes": [
        {"kind": "host", "name": "h1", "address": "10.0.0.1", "sysctl": {"net.ipv4.tcp_rmem": "4096 131072 8388608"}},
        {"kind": "host", "name": "h2", "address": "10.0.0.2", "sysctl": {}},
    ],
    "links": [link("bottleneck", "h1", "h2"), link("bottleneck-reverse", "h2", "h1")],
    "events": [],
    "flows": [
        {
            "id": f"f{number}",
            "from": "h1",
            "to": "h2",
            "start_ns": 0,
            "stop_ns": DURATION_NS,
            "port": 5000 + number,
            "workload": {"kind": "tcp", "cc": cc, "bytes": None, "ecn": False},
        }
        for number, cc in ((1, "cubic"), (2, "bbr"))
    ],
    "record": {"sample_interval_ns": 10_000_000, "packets": True},
    "emulate": {"ring_bytes": 1 << 26, "spin_ns": 60_000, "arena_bytes": 1 << 28, "path": "wire"},
}


def plan(**changes: Any) -> Plan:
    """The plan, with other values of some of its keys."""
    return wire.parsed(PLAN | changes)


def state(of: dict[str, Any]) -> Link:
    """A link of a plan as it is written, read."""
    return TypeAdapter(Link).validate_python(of)


DROPS = tuple(f"dropped-{reason}" for reason in ("tail", "head", "early", "policed", "delay-line", "down"))

MICROSECONDS = {"p50": 1.0, "p99": 20.0, "p99_9": 60.0, "max": 400.0}

EMULATOR: dict[str, Any] = {
    "lateness_us": dict(MICROSECONDS),
    "late_over_1ms": 0,
    "sent_packets": PACKETS,
    "read_lag_us": dict(MICROSECONDS),
    "ring_packets": PACKETS,
    "ring_drops": 0,
    "arena_bytes": 1 << 28,
    "arena_peak_bytes": 1 << 20,
    "arena_overflows": 0,
    "cpu_s": 0.3,
    "run_delay_s": 0.002,
    "wall_s": 2.0,
    "clock_steps": [],
    "send_errors": 0,
    "send_error": None,
    "oversize_packets": 0,
    "checksum_missing": 0,
    "unroutable_packets": 0,
    "path": "wire",
    "bursts_in": PACKETS,
    "segments_in": PACKETS,
    "bursts_out": PACKETS,
    "segments_out": PACKETS,
    "links": [
        {
            "name": name,
            "arrived_packets": count,
            "arrived_bytes": count * FRAME,
            "delivered_packets": count,
            "delivered_bytes": count * FRAME,
            "dropped": dict.fromkeys(DROPS, 0),
            "lost_before": 0,
            "lost_after": 0,
            "duplicated": 0,
            "marked": 0,
            "reordered": 0,
            "corrupted": 0,
            "inside": 0,
            "busy_ns": count * SERVICE_NS,
        }
        for name, count in (("bottleneck", PACKETS), ("bottleneck-reverse", 0))
    ],
    "entered_packets": PACKETS,
    "left_packets": PACKETS,
    "dropped_packets": 0,
    "duplicated_packets": 0,
    "inside_packets": 0,
    "scheduling": {},
    "spun_s": 0.1,
    "writer": {"cpu_s": 0.02, "rows": PACKETS, "backlog_max_chunks": 1},
}


BOOKS = ("links", *(f"{what}_packets" for what in ("entered", "duplicated", "left", "dropped", "inside")))
"""The accounts of every engine."""

SIMULATOR: dict[str, Any] = {key: EMULATOR[key] for key in BOOKS} | {
    "packets": PACKETS,
    "cpu_s": 0.02,
    "wall_s": 0.025,
    "simulated_s": 2.0,
    "tso": True,
    "writers": {"samples": {"rows": 400, "cpu_s": 0.001}},
}


def traffic_flow(identifier: str, cc: str, received: int) -> dict[str, Any]:
    return {
        "id": identifier,
        "cc_requested": cc,
        "cc_actual": cc,
        "received_bytes": received,
        "sent_bytes": received,
        "start_ns": 0,
        "first_byte_ns": 12_000_000,
        "end_ns": DURATION_NS,
        "completed": True,
        "retransmitted_segments": 3,
        "busy_us": 1_900_000,
        "rwnd_limited_us": 0,
        "sndbuf_limited_us": 0,
        "error": None,
        "udp": None,
        "command": None,
    }


PROBE: dict[str, Any] = {
    "wall_s": 2.0,
    "cpu_s": 0.01,
    "rows": PACKETS // 2,
    "lost_rows": 0,
    "foreign_rows": 0,
    "unreadable_rows": 0,
    "writer": {"rows": PACKETS // 2, "cpu_s": 0.01, "backlog_max_chunks": 1},
}

TRAFFIC: dict[str, Any] = {
    "wall_s": 2.0,
    "cpu_s": 0.2,
    "run_delay_s": 0.01,
    "sampling": {
        "expected": 200,
        "taken": 200,
        "cpu_s": 0.004,
        "interval_us": {"p50": 10_000.0, "p99": 10_200.0, "max": 11_000.0},
    },
    "interrupted": False,
    "writer": {"cpu_s": 0.01, "rows": 400, "backlog_max_chunks": 1},
    "flows": [traffic_flow("f1", "cubic", 1_500_000), traffic_flow("f2", "bbr", 500_000)],
}

RECEIVE = (("h1", "core"), ("h2", "host"))
TRANSMIT = (("h1", "host"), ("h2", "core"))

LAB: dict[str, Any] = {
    "build_ms": 20.0,
    "rootless": False,
    "fresh_proc": True,
    "sysctls": {"h1": {"net.ipv4.tcp_rmem": "4096\t131072\t8388608"}, "h2": {}},
    "offloads": {"h1": {"tx-tcp-segmentation": False}, "h2": {"tx-tcp-segmentation": False}},
    "interfaces": [
        {"host": host, "interface": "eth0", "side": side}
        | {f"{way}_{kind}": 0 for way in ("rx", "tx") for kind in ("dropped", "errors")}
        | {"rx_packets": PACKETS * ((host, side) in RECEIVE), "tx_packets": PACKETS * ((host, side) in TRANSMIT)}
        for host in ("h1", "h2")
        for side in ("host", "core")
    ],
    "shortages": {},
    "softnet_dropped": 0,
    "cpu": {"user_s": 0.5, "system_s": 0.3, "steal_s": 0.0, "idle_s": 3.2, "cores": 2},
    "cpus": 2,
}


def packets(lateness_ns: int = 5_000) -> pl.DataFrame:
    departures = [10_000_000 + (number + 1) * SERVICE_NS for number in range(PACKETS)]
    rows = [
        {
            "link": "bottleneck",
            "flow": f"f{1 + number % 2}",
            "packet": number,
            "size_bytes": FRAME,
            "payload_bytes": 1448,
            "tcp_seq": number * 1448,
            "arrival_ns": departure - 5_000_000,
            "queue_bytes": 3 * FRAME,
            "queue_packets": 3,
            "departure_ns": departure,
            "delivery_ns": departure + DELAY_NS,
            "sent_ns": departure + DELAY_NS + lateness_ns,
            "sojourn_ns": 5_000_000 - SERVICE_NS,
            "fate": "delivered",
            "ecn": "not-ect",
            "mark": None,
            "duplicate": False,
            "reordered": None,
            "corrupted": False,
        }
        for number, departure in enumerate(departures)
    ]
    return pl.DataFrame(rows, schema=polars_schema("packets"))


def samples() -> pl.DataFrame:
    """A sample every 10 ms; f1 receives three times as fast as f2; srtt goes from 21 to 40 ms and back for both."""
    schema = polars_schema("samples")
    rows = [
        dict.fromkeys(schema)
        | {
            "time_ns": time_ns,
            "flow": flow,
            "socket": 40_000,
            "cwnd_packets": 10,
            "ca_state": "open",
            "srtt_us": 21_000 + 1000 * (time_ns // 10_000_000 % 20),
            "min_rtt_us": 21_000,
            "received_bytes": received * time_ns // DURATION_NS,
            "bytes_sent": received * time_ns // DURATION_NS,
            "bytes_acked": received * time_ns // DURATION_NS,
        }
        for time_ns in range(10_000_000, DURATION_NS + 1, 10_000_000)
        for flow, received in (("f1", 1_500_000), ("f2", 500_000))
    ]
    return pl.DataFrame(rows, schema=schema)


def links() -> pl.DataFrame:
    """The bottleneck as in `packets`: 3 packets wait at any time from 10 ms on."""
    rows = []
    for time_ns in range(10_000_000, DURATION_NS + 1, 10_000_000):
        departed = (time_ns - 10_000_000) // SERVICE_NS
        for name, count in (("bottleneck", departed), ("bottleneck-reverse", 0)):
            rows.append(
                {"time_ns": time_ns, "link": name, "capacity_bytes": RATE * time_ns // 8_000_000_000}
                | {f"{what}_packets": 0 for what in ("dropped", "lost", "duplicated", "marked")}
                | {f"{what}_packets": count for what in ("arrived", "departed", "delivered")}
                | {f"{what}_bytes": count * FRAME for what in ("arrived", "departed", "delivered")}
                | {"queue_bytes": 3 * FRAME if count else 0, "queue_packets": 3, "queue_bytes_max": 4 * FRAME}
            )
    return pl.DataFrame(rows, schema=polars_schema("links"))


def engine_output() -> dict[str, Any]:
    """Name of each file that an engine writes -> its content; copies, free to be changed."""
    return {
        "emulator.json": copy.deepcopy(EMULATOR),
        "traffic.json": copy.deepcopy(TRAFFIC),
        "lab.json": copy.deepcopy(LAB),
        "packets.parquet": packets(),
        "samples.parquet": samples(),
        "links.parquet": links(),
    }


def simulator_output() -> dict[str, Any]:
    """The same of a run that was simulated."""
    files = engine_output()
    for name in ("emulator.json", "lab.json"):
        del files[name]
    for key in ("cpu_s", "run_delay_s", "sampling", "writer"):
        del files["traffic.json"][key]
    return files | {"simulator.json": copy.deepcopy(SIMULATOR), "packets.parquet": packets(lateness_ns=0)}


def write(directory: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        if isinstance(content, pl.DataFrame):
            content.write_parquet(directory / name)
        else:
            (directory / name).write_text(json.dumps(content))


@cache
def written() -> Path:
    """Returns a folder with `engine_output`, which is removed when this process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    write(Path(folder.name), engine_output())
    return Path(folder.name)


def make(
    directory: Path, status: str = "complete", files: dict[str, Any] | None = None, engine: str = "emulate"
) -> Path:
    """Write a run directory without summary and report."""
    directory.mkdir(parents=True, exist_ok=True)
    manifest = {
        "schema": SCHEMA,
        "status": status,
        "reason": None,
        "name": "synthetic",
        "run_id": "abc",
        "engine": engine,
    }
    write(directory, {"manifest.json": manifest, "plan.json": PLAN, **(files or engine_output())})
    (directory / "scenario.toml").write_text('name = "synthetic"  # a comment\n')
    return directory
