"""Studies with as many runs at a time as the machine can run validly, against one at a time: valid runs, and time.

Five small studies and two large ones, each carried out in both ways. Which way comes first changes from study to study.
The machine's load changes meanwhile, and falls on both.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import dumbbell
from benches.table import show
from dumbbell.statistics.verdicts import Verdicts, verdicts


@dataclass(frozen=True)
class Bench:
    """A study."""

    name: str
    rate: str
    duration: str
    repeat: int
    vary: Mapping[str, Any]
    is_large: bool = False

    @property
    def scenario(self) -> dict[str, Any]:
        """One flow over a bottleneck."""
        return {
            "name": self.name,
            "duration": self.duration,
            "topology": {"kind": "path", "rtt": "30 ms", "bottleneck": {"rate": self.rate, "buffer": "1 bdp"}},
            "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
        }


BUFFERS: Final = {"topology.bottleneck.buffer": ["0.3 bdp", "1 bdp", "3 bdp", "10 bdp"]}
STUDIES: Final = (
    Bench("buffers", "20 Mbit/s", "4 s", 2, BUFFERS),
    Bench("algorithms", "10 Mbit/s", "4 s", 4, {"flows.0.cc": ["cubic", "reno"]}),
    Bench("rtts", "20 Mbit/s", "5 s", 3, {"topology.rtt": ["10 ms", "30 ms", "100 ms"]}),
    Bench("fast", "50 Mbit/s", "4 s", 2, {"flows.0.cc": ["cubic", "reno"]}),
    Bench("rates", "10 Mbit/s", "3 s", 2, {"topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s", "40 Mbit/s"]}),
    Bench("many", "20 Mbit/s", "4 s", 8, BUFFERS, is_large=True),
    Bench("long", "20 Mbit/s", "10 s", 5, BUFFERS, is_large=True),
)


def measure(bench: Bench, jobs: int | None) -> tuple[float, Verdicts, int]:
    """Seconds in all, verdicts, and further attempts."""
    with tempfile.TemporaryDirectory() as directory:
        began = time.monotonic()
        study = dumbbell.run(
            bench.scenario, directory=directory, vary=bench.vary, repeat=bench.repeat, jobs=jobs, report=False
        )
        took = time.monotonic() - began
        return took, verdicts(study.runs), int(study.manifest["cost"]["redone"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also the two large studies")
    parser.add_argument("--only", help="one study")
    options = parser.parse_args()
    rows, sums = [], {1: [0.0, 0, 0], None: [0.0, 0, 0]}
    for i, bench in enumerate(STUDIES):
        if (bench.is_large and not (options.large or options.only)) or options.only not in (None, bench.name):
            continue
        for jobs in (1, None) if i % 2 == 0 else (None, 1):
            took, found, redone = measure(bench, jobs)
            way = "one" if jobs else "the default"
            rows.append(
                [bench.name, str(found.runs), way, f"{took:.0f}", f"{found.valid / found.runs:.0%}", str(found)]
            )
            rows[-1].append(str(redone))
            total = sums[jobs]
            total[0], total[1], total[2] = total[0] + took, total[1] + found.valid, total[2] + found.runs
            print(*rows[-1], flush=True)
    columns = ["study", "runs", "at a time", "s in all", "valid", "verdicts", "done again"]
    show("Studies, one run at a time and by the default", columns, rows)
    for jobs, (took, valid, runs) in sums.items():
        print(f"{'one' if jobs else 'the default'}: {took:.0f} s, {valid} of {runs} runs valid")


if __name__ == "__main__":
    main()
