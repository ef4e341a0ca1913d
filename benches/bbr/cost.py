"""The cost of each algorithm per ACK, by the kernel's count (BPF run-time statistics, `kernel.bpf_stats_enabled`).

The kernel's BBR is measured by the same counter, called through BPF (kernel_bbr.bpf.c). About 60 ns of every figure
are the counting and the entry into BPF. Root only; the sysctl is put back afterwards.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dumbbell
from benches.bbr.runs import scenario
from benches.table import show
from dumbbell.records.files import read_json

COUNTING = Path("/proc/sys/kernel/bpf_stats_enabled")
ALGORITHMS: dict[str, Any] = {
    "kernel's bbr": {"bpf": str(Path(__file__).parent / "kernel_bbr.bpf.c")},
    "bbr2": "bbr2",
    "bbr3": "bbr3",
    "bpf_cubic": "bpf_cubic",
    "bpf_reno": "bpf_reno",
}
PATHS = ((100, 20), (1000, 20))
"""Mbit/s and ms."""
SMALL = ("init", "release")
"""Once a connection, not worth a line."""


@contextmanager
def counting() -> Iterator[None]:
    """The kernel counts meanwhile."""
    before = COUNTING.read_text()
    COUNTING.write_text("1")
    try:
        yield
    finally:
        COUNTING.write_text(before)


def programs(run: dumbbell.Run) -> dict[str, tuple[int, float]]:
    """Runs and mean time in ns of each callback."""
    (algorithm,) = read_json(run.directory / "lab.json")["algorithms"]
    found = {}
    for program in algorithm["programs"]:
        name = program["name"].partition("_op_")[2]
        if program["run_count"] and name not in SMALL:
            found[name] = (program["run_count"], program["run_time_ns"] / program["run_count"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    for rate, rtt in PATHS:
        rows = []
        for name, cc in ALGORITHMS.items():
            for acks in (False, True):
                per_ack, share = [], []
                for _ in range(options.repeat):
                    wanted = scenario(rate, rtt, options.seconds, ["cubic"])
                    wanted["flows"][0]["cc"] = cc
                    wanted["record"] = {"acks": acks}
                    with tempfile.TemporaryDirectory() as directory, counting():
                        found = programs(dumbbell.run(wanted, directory=directory))
                    calls, _ = found.get("cong_control") or found["cong_avoid"]
                    total_ns = sum(count * mean for count, mean in found.values())
                    per_ack.append(total_ns / calls)
                    share.append(total_ns / 1e9 / options.seconds)
                rows.append(
                    [
                        name,
                        "yes" if acks else "no",
                        f"{calls / options.seconds:,.0f}",
                        f"{statistics.median(per_ack):,.0f} ns",
                        f"{100 * statistics.median(share):.2f} %",
                    ]
                )
        show(
            f"{rate} Mbit/s, {rtt} ms, {options.seconds:g} s, median of {options.repeat}",
            ["", "ACKs recorded", "ACKs per s", "all callbacks, per ACK", "of a core"],
            rows,
        )


if __name__ == "__main__":
    main()
