"""Eight independent links at once through one emulator: does each keep its rate?"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from benches.table import show
from dumbbell.engines.emulate.engine import EmulateEngine
from dumbbell.pipeline.run import execute
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document, parsed
from dumbbell.records.files import read_json, write_json
from dumbbell.scenario import load

WARM_UP_S = 3
FRAME, PAYLOAD = 1514, 1448


def plan(links: int, rate_mbit: int, seconds: int) -> dict[str, Any]:
    """A number of separate paths side by side: the scenario presets have one bottleneck, the engine takes any links."""
    whole: dict[str, Any] = {}
    for index in range(links):
        planned = expand(
            load(
                {
                    "name": "links",
                    "duration": f"{seconds} s",
                    "topology": {
                        "kind": "path",
                        "rtt": "50 ms",
                        "bottleneck": {"rate": f"{rate_mbit} Mbit/s", "buffer": "1 bdp"},
                    },
                    "flows": [{"from": "h1", "to": "h2", "cc": "cubic", "id": f"f{index}"}],
                }
            )
        )
        one = document(planned)
        for node in one["nodes"]:
            node["name"] += f"-{index}"
            node["address"] = node["address"].replace("10.0.", f"10.{index}.")
        for part in (*one["links"], *one["flows"]):
            part["from"] += f"-{index}"
            part["to"] += f"-{index}"
        for link in one["links"]:
            link["name"] += f"-{index}"
        if not whole:
            whole = one
        else:
            for key in ("nodes", "links", "flows"):
                whole[key] += one[key]
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=8)
    parser.add_argument("--rate", type=int, default=50, help="Mbit/s of each")
    parser.add_argument("--seconds", type=int, default=12)
    options = parser.parse_args()
    run = plan(options.links, options.rate, options.seconds)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        write_json(directory / "plan.json", run)
        (directory / "logs").mkdir()
        with (directory / "lock").open("w") as lock:
            execute(EmulateEngine(), parsed(run), directory, lock.fileno(), lambda event: None)
        samples = pl.read_parquet(directory / "samples.parquet")
        emulator = read_json(directory / "emulator.json")
    window = samples.filter(pl.col("time_ns") >= WARM_UP_S * 10**9)
    ideal = options.rate * 1e6 * PAYLOAD / FRAME
    rows = []
    for flow in run["flows"]:
        mine = window.filter(pl.col("flow") == flow["id"]).sort("time_ns")
        span = (mine["time_ns"][-1] - mine["time_ns"][0]) / 1e9
        goodput = (mine["received_bytes"][-1] - mine["received_bytes"][0]) * 8 / span
        rows.append([flow["id"], f"{goodput / 1e6:.3f}", f"{goodput / ideal - 1:+.3%}", "within 0.2 %"])
    lateness = emulator["lateness_us"]
    rows.append(
        ["lateness p50, p99, max (us)", f"{lateness['p50']:.1f} {lateness['p99']:.0f} {lateness['max']:.0f}", "", ""]
    )
    rows.append(["emulator, share of a core", f"{emulator['cpu_s'] / emulator['wall_s']:.2f}", "", ""])
    show(
        f"{options.links} links of {options.rate} Mbit/s, 50 ms, 1 BDP, CUBIC; goodput from {WARM_UP_S} s on",
        ["link", "Mbit/s", f"against {ideal / 1e6:.3f}", "target"],
        rows,
    )


if __name__ == "__main__":
    main()
