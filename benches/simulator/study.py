"""A study of a thousand short runs: runs per second, what a run costs to start, and how busy the cores are."""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

import dumbbell
from benches.simulator.work import cost
from benches.simulator.work import dumbbell as plan_of
from benches.table import show

SCENARIO: dict[str, Any] = {
    "name": "short",
    "duration": "5 s",
    "starts": "0 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": "20 ms",
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp"},
    },
    "flows": [{"from": "s1", "to": "r1", "cc": "cubic"}, {"from": "s2", "to": "r2", "cc": "bbr"}],
}


def study(cells: int, repeat: int, directory: str) -> list[str]:
    """A row: how long it took, and where the time went."""
    rates = [f"{5 + 20 * i / cells:.3f} Mbit/s" for i in range(cells)]
    began = time.monotonic()
    vary = {"topology.bottleneck.rate": rates}
    found = dumbbell.run(SCENARIO, engine="simulate", vary=vary, repeat=repeat, report=False, directory=directory)
    wall_s = time.monotonic() - began
    manifest, runs = found.manifest, cells * repeat
    spent, planning_s = manifest["cost"], manifest["planning_s"]
    busy = spent["cpu_s"] / (spent["wall_s"] * manifest["threads"])
    return [
        f"{cells:,} x {repeat:,}",
        f"{wall_s:.2f}",
        f"{runs / wall_s:,.0f}",
        f"{1e3 * planning_s / cells:.2f}",
        f"{1e3 * planning_s / runs:.2f}",
        f"{1e3 * spent['cpu_s'] / runs:.2f}",
        f"{100 * busy:.0f} %",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    rows = []
    for cells in (options.runs, options.runs // 10, options.runs // 100):
        with tempfile.TemporaryDirectory() as directory:
            rows.append(study(cells, options.runs // cells, directory))
    columns = ["cells x repetitions", "s in all", "runs/s", "planning: ms per cell", "ms per run"]
    columns += ["simulating: ms per run", "cores busy with it"]
    show(f"A study of {options.runs:,} runs of 5 s, 5 to 25 Mbit/s, 20 ms, CUBIC against BBR", columns, rows)
    start_up()


def start_up() -> None:
    """Measure the core's time for a run in which next to nothing happens."""
    rows = []
    for flows in (2, 10, 100):
        plan = plan_of("cubic", flows, "10 Mbit/s", "20 ms", seconds=0.011)
        found = cost(plan, seeds=range(1000))
        rows.append([str(flows), f"{1e3 * found.cpu_s / 1000:.3f}", f"{1e3 * found.wall_s / 1000:.3f}", "<= 2"])
    show(
        "Start-up per run: runs of 11 ms on one thread, in which hardly a packet arrives",
        ["flows", "CPU ms per run", "wall ms per run", "target"],
        rows,
    )


if __name__ == "__main__":
    main()
