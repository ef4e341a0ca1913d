"""The cost of a run in virtual time: wall time against the run's own, and memory, alone and beside a busy machine.

Each run has one CPU. Wall time is that of the kernel's process, with its start and end; the engine itself measures it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import dumbbell
from benches.table import show
from dumbbell.kernels import ready
from dumbbell.records.files import read_json


@dataclass(frozen=True)
class Work:
    """A run, and how fast and small it shall be."""

    name: str
    scenario: str | dict[str, Any]
    at_least: float
    """Times real time."""
    memory_mb: int
    acks: bool = False
    """Whether every ACK is recorded, too."""


def _flow(rate: str, rtt: str, seconds: float) -> dict[str, Any]:
    return {
        "name": "one-flow",
        "duration": f"{seconds:g} s",
        "topology": {"kind": "path", "rtt": rtt, "bottleneck": {"rate": rate, "buffer": "1 bdp"}},
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
    }


WORK: Final = (
    Work("bbr-vs-cubic, 20 s at 100 Mbit/s", "bbr-vs-cubic", 8, 300),
    Work("bbr-vs-cubic, and every ACK", "bbr-vs-cubic", 0, 300, acks=True),
    Work("one flow, 60 s at 10 Mbit/s, 40 ms", _flow("10 Mbit/s", "40 ms", 60), 60, 300),
    Work("one flow, 10 s at 1 Gbit/s, 25 ms", _flow("1 Gbit/s", "25 ms", 10), 0.5, 300),
    Work("one flow, 5 s at 10 Gbit/s, 20 ms", _flow("10 Gbit/s", "20 ms", 5), 0, 1000),
    Work("start and end: one flow, 0.1 s at 10 Mbit/s", _flow("10 Mbit/s", "10 ms", 0.1), 0, 300),
)


READY: Final = (
    Work("start and end: one flow, 0.1 s at 10 Mbit/s", _flow("10 Mbit/s", "10 ms", 0.1), 0.2, 400),
    Work("start and end, and every ACK", _flow("10 Mbit/s", "10 ms", 0.1), 0, 400, acks=True),
    Work("one flow, 20 s at 50 Mbit/s, 40 ms", _flow("50 Mbit/s", "40 ms", 20), 0.5, 400),
)
"""Works by which a kernel in a virtual machine is measured."""


@dataclass(frozen=True)
class Cost:
    """The cost of one run."""

    seconds: float
    """The run's own time."""
    wall_s: float
    cpu_s: float
    memory_bytes: int
    verdict: str


def measure(work: Work, kernel: str | None = None) -> Cost:
    """Run it once."""
    settings = {"record.acks": work.acks, **({"emulate.kernel": kernel} if kernel else {})}
    with tempfile.TemporaryDirectory() as directory:
        run = dumbbell.run(work.scenario, settings, directory, engine="virtual", report=False)
        told = read_json(run.directory / "lab.json")["kernel"]
        seconds = read_json(run.directory / "plan.json")["duration_ns"] / 1e9
        return Cost(seconds, told["wall_s"], told["cpu_s"], told["memory_bytes"], run.verdict)


@contextmanager
def busy() -> Iterator[None]:
    """All CPUs have something else to do."""
    with ExitStack() as stack:
        for _ in os.sched_getaffinity(0):
            process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def row(work: Work, costs: list[Cost], beside: str) -> list[str]:
    """The row of a table."""
    wall_s = statistics.median(cost.wall_s for cost in costs)
    cpu_s = statistics.median(cost.cpu_s for cost in costs)
    memory = max(cost.memory_bytes for cost in costs) / 1e6
    verdicts = " ".join(sorted({cost.verdict for cost in costs}))
    ratio, seconds = costs[0].seconds / wall_s, costs[0].seconds
    target = f">= {work.at_least:g}" if work.at_least and not beside else ""
    return [
        work.name,
        beside or "nothing",
        f"{wall_s:.2f}",
        f"{cpu_s:.2f}",
        f"{ratio:.2f}",
        target,
        f"{seconds / cpu_s:.2f}",
        f"{memory:.0f}",
        f"<= {work.memory_mb}",
        verdicts,
    ]


def together(work: Work, repeat: int, kernel: str | None) -> list[str]:
    """Time of as many runs at once as there are CPUs, against one."""
    alone = statistics.median(measure(work, kernel).wall_s for _ in range(repeat))
    cpus = len(os.sched_getaffinity(0))
    slowest = []
    for _ in range(repeat):
        with ThreadPoolExecutor(cpus) as pool:
            slowest.append(max(cost.wall_s for cost in pool.map(measure, [work] * cpus, [kernel] * cpus)))
    found = statistics.median(slowest)
    return [work.name, str(cpus), f"{alone:.2f}", f"{found:.2f}", f"{found / alone:.2f}", "<= 1.15"]


def main() -> None:
    """Measure all, or what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="work whose name has this part")
    parser.add_argument("--kernel", help="a kernel by its name; one that was added has work of its own")
    parser.add_argument("--alone", action="store_true", help="leave out what is measured beside a busy machine")
    options = parser.parse_args()
    there = READY if options.kernel and ready.named(options.kernel) else WORK
    chosen = [work for work in there if options.only in work.name]
    rows = []
    for work in chosen:
        rows.append(row(work, [measure(work, options.kernel) for _ in range(options.repeat)], ""))
        if options.alone:
            continue
        with busy():
            rows.append(row(work, [measure(work, options.kernel) for _ in range(options.repeat)], "a busy machine"))
    columns = ["work", "beside", "wall s", "CPU s", "x real time", "target"]
    columns += ["x of CPU time", "memory (MB)", "target", "verdict"]
    show(f"A kernel in virtual time, one CPU, all tables, acks if named; medians of {options.repeat}", columns, rows)
    if chosen and not options.alone:
        columns = ["work", "at once", "wall s of one", "of the slowest", "ratio", "target"]
        show("Runs at once", columns, [together(chosen[0], options.repeat, options.kernel)])


if __name__ == "__main__":
    main()
