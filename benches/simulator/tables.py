"""The cost of each table of a single run: the same run with and without it.

100 Mbit/s, 50 ms, a buffer of a BDP, 10 flows, 60 s simulated. Separate threads write the tables, so CPU and wall time
are both shown.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benches.simulator.work import cost, dumbbell
from benches.table import show

RECORDINGS: dict[str, dict[str, Any]] = {
    "samples and links, every 10 ms": {"packets": False, "acks": False},
    "and acks": {"packets": False, "acks": True},
    "and packets": {"packets": True, "acks": False},
    "all": {"packets": True, "acks": True},
}


def measure(plan: dict[str, Any]) -> tuple[float, float, int]:
    """CPU seconds, wall seconds, and bytes on disk of a single run in a fresh process."""
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "plan.json").write_text(json.dumps(plan))
        child = [sys.executable, "-m", "benches.simulator.tables", "--child", directory]
        told = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
        size = sum(path.stat().st_size for path in Path(directory).glob("*.parquet"))
    return float(told["cpu_s"]), float(told["wall_s"]), size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cc", default="cubic")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _child(options.child)
    found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in ("a study's summary", *RECORDINGS)}
    for _ in range(options.repeat):
        summary = cost(dumbbell(options.cc, 10, seconds=options.seconds))
        found["a study's summary"].append((summary.cpu_s, summary.wall_s, 0))
        for name, record in RECORDINGS.items():
            found[name].append(measure(dumbbell(options.cc, 10, seconds=options.seconds, record=record)))
    base = statistics.median(cpu_s for cpu_s, _, _ in found["a study's summary"])
    rows = []
    for name, costs in found.items():
        cpu_s, wall_s = (statistics.median(one[i] for one in costs) for i in (0, 1))
        rows.append([name, f"{cpu_s:.3f}", f"{cpu_s / base:.1f}", f"{wall_s:.3f}", f"{costs[0][2] / 1e6:.1f}"])
    show(
        f"100 Mbit/s, 50 ms, 1 BDP, 10 flows of {options.cc}, {options.seconds:g} s; medians of {options.repeat}",
        ["recorded", "CPU s", "times the summary's", "wall s", "MB on disk"],
        rows,
    )
    return None


def _child(directory: str) -> None:
    from resource import RUSAGE_SELF, getrusage
    from time import monotonic

    from dumbbell import _core

    began, before = monotonic(), getrusage(RUSAGE_SELF)
    _core.simulate(directory, True, lambda event: True)
    after = getrusage(RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    json.dump({"cpu_s": cpu_s, "wall_s": monotonic() - began}, sys.stdout)


if __name__ == "__main__":
    main()
