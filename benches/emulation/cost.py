"""The cost of sampling and logging at 100 Mbit/s: the same run with everything recorded and with next to nothing."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from typing import Any

import dumbbell
from benches.table import show
from benches.turns import in_turns
from dumbbell.records.files import read_json

RECORDINGS = {
    "everything (10 ms, packets)": {"sample_interval": "10 ms", "packets": True},
    "next to nothing (1 s, no packets)": {"sample_interval": "1 s", "packets": False},
}


def measure(record: dict[str, Any], seconds: int) -> float:
    """CPU seconds per second of run: emulator with its writers, and traffic."""
    scenario = {
        "name": "cost",
        "duration": f"{seconds} s",
        "topology": {"kind": "path", "rtt": "30 ms", "bottleneck": {"rate": "100 Mbit/s", "buffer": "1 bdp"}},
        "record": record,
        # The busy-wait would hide what is measured.
        "emulate": {"spin": "0 s"},
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
    }
    with tempfile.TemporaryDirectory() as directory:
        run = dumbbell.run(scenario, directory=directory)
        emulator = read_json(run.directory / "emulator.json")
        traffic = read_json(run.directory / "traffic.json")
    return float((emulator["cpu_s"] + emulator["writer"]["cpu_s"] + traffic["cpu_s"]) / emulator["wall_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    shares = in_turns(RECORDINGS, options.repeat, lambda record: measure(record, options.seconds))
    every, none = (shares[name] for name in RECORDINGS)
    differences = [a - b for a, b in zip(every, none, strict=True)]
    rows = [[name, f"{statistics.median(values):.3f}", ""] for name, values in shares.items()]
    rows.append(["difference, pair by pair", f"{statistics.median(differences):.3f}", "<= 0.10"])
    show(
        f"CPU of the lab's processes, in cores, 100 Mbit/s, one CUBIC flow; medians of {options.repeat}",
        ["recorded", "cores", "target"],
        rows,
    )


if __name__ == "__main__":
    main()
