"""CPU seconds for the same work as ns-3: a dumbbell of 100 Mbit/s, 50 ms, a buffer of a BDP, 10 flows, 60 s simulated.

ns-3 is measured where it is installed (Debian: `apt-get install libns3-dev`), in turns with ours. Its figure is without
setting up; ours is the whole call, from the plan's text to the summaries on disk. The quickest of several measurements
counts, on both sides: other work on the machine only adds to it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benches.simulator.work import Cost, cost, dumbbell
from benches.table import show

NS3 = {"reno": "TcpLinuxReno", "cubic": "TcpCubic", "bbr": "TcpBbr"}
"""The algorithms' names in ns-3; it has no others of ours."""
OURS = ("reno", "cubic", "bbr", "bbr2", "bbr3", "dctcp", "vegas")
TARGETS = {"cubic": 2e6, "bbr": 1e6}
"""Delivered data packets per CPU second."""
RATIO = 200
"""The smallest ratio of ns-3's CPU seconds to ours."""
SPACING_MS = 100.0

_MODULES = ("point-to-point", "applications", "internet", "traffic-control", "network", "core")


def compile_ns3(directory: Path) -> Path | None:
    """Our ns-3 program, compiled; `None` if ns-3 is not installed."""
    source, program = Path(__file__).with_name("ns3_dumbbell.cc"), directory / "ns3_dumbbell"
    if not Path("/usr/include/ns3/core-module.h").exists():
        return None
    libraries = [f"-lns3-{name}" for name in (*_MODULES, "bridge", "stats")]
    subprocess.run(["g++", "-std=c++17", "-O2", "-DNDEBUG", "-o", program, source, *libraries], check=True)
    return program


def ns3(program: Path, cc: str, flows: int, seconds: float) -> dict[str, Any]:
    """The cost and the results of ns-3: `cpu_s`, `packets`, `goodput_bps`, `jain_index`."""
    command = [program, f"--cc={NS3[cc]}", f"--flows={flows}", f"--time={seconds}", f"--spacing={SPACING_MS / 1e3}"]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--flows", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--repeat-ns3", type=int, default=2)
    parser.add_argument("--without-ns3", action="store_true", help="measure ours alone")
    options = parser.parse_args()
    ours: dict[str, list[Cost]] = {cc: [] for cc in OURS}
    theirs: dict[str, list[dict[str, Any]]] = {cc: [] for cc in NS3}
    with tempfile.TemporaryDirectory() as scratch:
        program = None if options.without_ns3 else compile_ns3(Path(scratch))
        if program is None and not options.without_ns3:
            print("ns-3 is not installed (apt-get install libns3-dev): ours alone\n")
        for turn in range(options.repeat):
            for cc in OURS:
                plan = dumbbell(cc, options.flows, seconds=options.seconds, spacing_ms=SPACING_MS)
                ours[cc].append(cost(plan))
                if program is not None and cc in NS3 and turn < options.repeat_ns3:
                    theirs[cc].append(ns3(program, cc, options.flows, options.seconds))
    work = f"100 Mbit/s, 50 ms, 1 BDP, {options.flows} flows, {options.seconds:g} s simulated"
    columns = ["algorithm", "CPU s", "data packets", "per CPU s", "target", "Mbit/s", "Jain"]
    columns += ["ns-3: CPU s", "per CPU s", "Mbit/s", "Jain", "ns-3 / ours", "target"]
    title = f"{work}; the quickest of {options.repeat} (ns-3: {options.repeat_ns3})"
    show(title, columns, [_row(cc, ours[cc], theirs.get(cc, [])) for cc in OURS])


def _row(cc: str, ours: list[Cost], theirs: list[dict[str, Any]]) -> list[str]:
    cpu_s = min(one.cpu_s for one in ours)
    one = ours[0]
    target = f">= {TARGETS[cc]:,.0f}" if cc in TARGETS else ""
    jain = "" if one.jain_index is None else f"{one.jain_index:.3f}"
    row = [cc, f"{cpu_s:.3f}", f"{one.packets:,}", f"{one.packets / cpu_s:,.0f}", target]
    row += [f"{one.goodput_bps / 1e6:.1f}", jain]
    if not theirs:
        return [*row, *[""] * 6]
    other, their_s = theirs[0], min(float(found["cpu_s"]) for found in theirs)
    row += [f"{their_s:.1f}", f"{other['packets'] / their_s:,.0f}"]
    row += [f"{other['goodput_bps'] / 1e6:.1f}", f"{other['jain_index']:.3f}"]
    return [*row, f"{their_s / cpu_s:.0f}", f">= {RATIO}"]


if __name__ == "__main__":
    main()
