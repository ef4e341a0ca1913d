"""Five links in a row at 100 Mbit/s, through four routers: how late packets leave them, and the verdict.

One CUBIC flow fills the path. Runs follow each other.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise
from typing import Any

import dumbbell
from benches.table import show
from dumbbell.records.files import read_json

HOPS = 5


def scenario(seconds: int) -> dict[str, Any]:
    """h1, four routers, h2."""
    routers = [f"r{i}" for i in range(1, HOPS)]
    names = ["h1", *routers, "h2"]
    limits = {"rate": "100 Mbit/s", "delay": "2 ms", "buffer": "20 ms"}
    return {
        "name": "hops",
        "duration": f"{seconds} s",
        "topology": {
            "kind": "graph",
            "nodes": {"h1": {}, "h2": {}, **{name: {"kind": "router"} for name in routers}},
            "links": [{"between": list(pair), **limits} for pair in pairwise(names)],
        },
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for number in range(options.repeat):
            run = dumbbell.run(scenario(options.seconds), directory=f"{directory}/{number}", report=False)
            emulator = read_json(run.directory / "emulator.json")
            late = emulator["lateness_us"]
            (flow,) = run.summary["flows"]
            rows.append(
                [
                    f"{flow['goodput_bps'] / 1e6:.2f}",
                    f"{late['p50']:.0f}",
                    f"{late['p99']:.0f}",
                    "<= 200",
                    f"{emulator['cpu_s'] / emulator['wall_s']:.2f}",
                    run.verdict,
                ]
            )
    show(f"{HOPS} hops", ["goodput Mbit/s", "late p50 us", "p99", "target", "emulator, cores", "verdict"], rows)


if __name__ == "__main__":
    main()
