"""Time that things take in a lab that is up: commands in a host, and pings between all hosts.

A command is `true`, from its request to its exit code. From another terminal it is `dumbbell lab exec`, interpreter and
all. Pings are a round between all hosts of a dumbbell.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benches.table import show
from dumbbell.labs import programs
from dumbbell.labs.lab import Lab

NETWORK = """
name = "living-{pairs}"
[topology]
kind = "dumbbell"
pairs = {pairs}
rtt = "0 s"
bottleneck = {{ rate = "10 Gbit/s", buffer = "unlimited" }}
"""


def milliseconds(repeat: int, work: Callable[[], object]) -> tuple[float, float]:
    """Median and maximum."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(times), max(times)


def commands(lab: Lab, row: Callable[[str, str, int, Callable[[], object]], None], repeat: int) -> None:
    """Rows of commands in a host."""
    outside = [sys.executable, "-m", "dumbbell", "lab", "exec", "--lab", lab.path.name, "s1", "true"]
    row("a command from the shell", "<= 5", repeat, lambda: programs.run(lab.path, "s1", ["true"]))
    row("a command from Python, its output read", "", repeat, lambda: lab["s1"].run(["true"]))
    row("a command from another terminal", "<= 40", repeat, lambda: subprocess.run(outside, check=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    rows = []

    def row(what: str, target: str, repeat: int, work: Callable[[], object]) -> None:
        median, most = milliseconds(repeat, work)
        rows.append([what, f"{median:.1f}", f"{most:.1f}", target])

    with tempfile.TemporaryDirectory() as folder:
        for pairs in (25, 100):
            file = Path(folder, f"{pairs}.toml")
            file.write_text(NETWORK.format(pairs=pairs))
            begun = time.perf_counter()
            with Lab(file) as lab:
                up_ms = (time.perf_counter() - begun) * 1e3
                rows.append([f"{2 * pairs} hosts: planned, checked and up", f"{up_ms:.0f}", "", ""])
                assert lab.ping_all(timeout_s=5).dropped_percent == 0
                target = "<= 30" if pairs == 25 else "<= 500"
                row(f"{2 * pairs} hosts: ping between all", target, 5, lab.ping_all)
                if pairs == 25:
                    commands(lab, row, options.repeat)
                begun = time.perf_counter()
            rows.append([f"{2 * pairs} hosts: down", f"{(time.perf_counter() - begun) * 1e3:.0f}", "", ""])
    show(f"Medians of up to {options.repeat}, ms", ["", "median", "most", "target"], rows)


if __name__ == "__main__":
    main()
