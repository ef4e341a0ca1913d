"""Large runs: what importing, planning, simulating, judging and reporting cost, in CPU time and in memory at its peak.

Many flows: 10 Gbit/s, 50 ms, a buffer of a BDP, a fifth of the flows BBR and the others CUBIC; all tables are recorded.
A large network: `tests.graphs.large`, 754 nodes and 1,798 limited links. Each run is in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any
from unittest.mock import patch

from benches.table import show
from tests import graphs

LARGE = "large"
STEPS = ("import", "plan", "simulate", "judge", "report")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flows", type=int, nargs="*", default=[1_000, 10_000, 50_000])
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measured(options.one, options.seconds)))
        return
    columns = [*(f"{step}: CPU s" for step in STEPS), "in all", "judge / simulate", "report / simulate"]
    columns += [*(f"{step}: peak, MiB" for step in STEPS[2:]), "page, MB"]
    rows = [[f"{flows:,}", *row(str(flows), options.seconds)] for flows in options.flows]
    if rows:
        show(f"10 Gbit/s, 50 ms, {options.seconds:g} s simulated, all tables", ["flows", *columns], rows)
    show("A network of 754 nodes, 20 flows, 2 s simulated", columns, [row(LARGE, options.seconds)])


def row(name: str, seconds: float) -> list[str]:
    """The cost of one run, in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, "--one", name, "--seconds", str(seconds)]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    cpu, peak = told["cpu_s"], told["peak_mib"]
    return [
        *(f"{cpu[step]:.2f}" for step in STEPS),
        f"{sum(cpu.values()):.2f}",
        *(f"{cpu[step] / cpu['simulate']:.2f}" for step in ("judge", "report")),
        *(f"{peak[step]:.0f}" for step in STEPS[2:]),
        f"{told['page_bytes'] / 1e6:.2f}",
    ]


def measured(name: str, seconds: float) -> dict[str, Any]:
    """The cost of each step of one run: CPU seconds, and the process's largest memory within it."""
    import dumbbell
    from dumbbell.pipeline import compose, run
    from dumbbell.pipeline.run import execute

    cpu, peak = {"import": _cpu_s()}, {}
    last = _cpu_s()
    _reset_peak()

    def passed(step: str) -> None:
        nonlocal last
        cpu[step], peak[step] = _cpu_s() - last, _peak_mib()
        last = _cpu_s()
        _reset_peak()

    def between(before: str | None, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            if before is not None:
                passed(before)
            result = call(*args, **kwargs)
            passed(step)
            return result

        return called

    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(run, "execute", between("plan", "simulate", execute)),
        patch.object(compose, "compose", between(None, "judge", compose.compose)),
    ):
        scenario: Path | Mapping[str, Any]
        if name == LARGE:
            # A file, as users have one.
            scenario = Path(folder, "large.toml")
            scenario.write_text(graphs.large())
        else:
            scenario = many(int(name), seconds)
        finished = dumbbell.run(scenario, directory=folder, engine="simulate", report=False)
        page = finished.report()
        passed("report")
        return {"cpu_s": cpu, "peak_mib": peak, "page_bytes": Path(page).stat().st_size}


def many(flows: int, seconds: float) -> Mapping[str, Any]:
    """`flows` that share a bottleneck."""
    return {
        "name": "many",
        "duration": f"{seconds:g} s",
        "topology": {
            "kind": "dumbbell",
            "pairs": 4,
            "rtt": "50 ms",
            "bottleneck": {"rate": "10 Gbit/s", "buffer": "1 bdp"},
        },
        "flows": [{"id": "bulk", "from": "s*", "to": "r*", "connections": flows, "mix": {"cubic": 0.8, "bbr": 0.2}}],
        "record": {"acks": True, "packets": True},
    }


def _cpu_s() -> float:
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mib() -> float:
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def _reset_peak() -> None:
    """Begin a new peak: proc(5), clear_refs."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main()
