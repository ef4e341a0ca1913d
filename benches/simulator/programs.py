"""Users' programs in the simulator: the CPU time of bundled BPF sources, against that of the built-in algorithms."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benches.table import show
from dumbbell.core import core
from dumbbell.engines.registry import engine
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.algorithms import objects
from dumbbell.scenario import load
from dumbbell.scenario.resolve import resolve

SOURCES = Path(__file__).parents[2] / "bpf" / "algorithms"
NAMES = ("reno", "cubic", "dctcp", "htcp", "westwood")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="simulated")
    parser.add_argument("--runs", type=int, default=5, help="of each, of which the shortest counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(name, Path(folder), options.seconds, options.runs) for name in NAMES]
    title = f"One flow, 100 Mbit/s, 40 ms, a buffer of a BDP, {options.seconds} s simulated"
    show(title, ["algorithm", "built in: CPU s", "in BPF: CPU s", "in BPF / built in"], rows)


def row(name: str, folder: Path, seconds: int, runs: int) -> list[str]:
    """The best of some runs of each kind, in turns: other work of the machine hits both."""
    program = folder / f"own_{name}.bpf.c"
    shutil.copy(SOURCES / name / f"{name}.bpf.c", program)
    pairs = [(cpu_s(name, seconds), cpu_s(str(program), seconds)) for _ in range(runs)]
    built_in, in_bpf = map(min, zip(*pairs, strict=True))
    return [name, f"{built_in:.3f}", f"{in_bpf:.3f}", f"{in_bpf / built_in:.2f}"]


def cpu_s(cc: str, seconds: int) -> float:
    """The CPU time of a run without tables."""
    scenario: dict[str, Any] = {
        "name": "own",
        "duration": f"{seconds} s",
        "topology": {"kind": "path", "rtt": "40 ms", "bottleneck": {"rate": "100 Mbit/s", "buffer": "1 bdp"}},
        "flows": [{"from": "h1", "to": "h2", "cc": cc}],
    }
    loaded = load(scenario)
    plan = wire.text(planned(engine("simulate"), loaded))
    compiled = objects(resolve(loaded).labels.values())
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        core.simulate_many(
            (plan,), ((0, 0, 0, 1, "run"),), Path(folder), lambda _: True, shard_runs=1, threads=1, objects=compiled
        )
        return time.process_time() - began


if __name__ == "__main__":
    main()
