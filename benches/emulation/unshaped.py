"""How fast packets of wire size cross the emulator when no link slows them: one CUBIC flow, no rate, no delay."""

from __future__ import annotations

import argparse
import statistics
import tempfile

import dumbbell
from benches.table import show
from dumbbell.records.files import read_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    scenario = {
        "name": "unshaped",
        "duration": f"{options.seconds} s",
        "topology": {"kind": "path", "rtt": "0 ms", "bottleneck": {"rate": "unlimited", "buffer": "unlimited"}},
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
    }
    rates, costs = [], []
    for _ in range(options.repeat):
        with tempfile.TemporaryDirectory() as directory:
            run = dumbbell.run(scenario, directory=directory)
            emulator = read_json(run.directory / "emulator.json")
            rates.append(run.summary["flows"][0]["goodput_bps"] / 1e9)
            costs.append(emulator["cpu_s"] / emulator["ring_packets"] * 1e6)
    show(
        f"Unshaped, one CUBIC flow, {options.seconds} s, {options.repeat} runs",
        ["", "measured (sorted)", "target"],
        [
            ["goodput, Gbit/s", " ".join(f"{rate:.2f}" for rate in sorted(rates)), ">= 2.5"],
            ["emulator CPU per packet, us (median)", f"{statistics.median(costs):.2f}", ""],
        ],
    )


if __name__ == "__main__":
    main()
