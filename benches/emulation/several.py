"""Runs side by side against one by one: how many are valid, how long they take, and whether they find the same.

A study of one CUBIC flow over 50 Mbit/s, 30 ms, 1 BDP, with several seeds: first one at a time, then as many as the
budget lets run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

import polars as pl

import dumbbell
from benches.table import show
from dumbbell.execute.cost import cores, measured
from dumbbell.plan.expand import expand
from dumbbell.scenario import load
from dumbbell.statistics.intervals import of_mean, welch_difference

SCENARIO: dict[str, Any] = {
    "name": "several",
    "topology": {"kind": "path", "rtt": "30 ms", "bottleneck": {"rate": "50 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}


def measure(seconds: int, runs: int, jobs: int | None) -> tuple[list[str], list[float]]:
    """A row, and the goodput of each run in Mbit/s."""
    with tempfile.TemporaryDirectory() as directory:
        began = time.monotonic()
        scenario = {**SCENARIO, "duration": f"{seconds} s"}
        study = dumbbell.run(scenario, directory=directory, repeat=runs, jobs=jobs, report=False)
        took = time.monotonic() - began
        good = study.runs.filter(pl.col("error").is_null())
        cost = [measured(study.open(run).manifest) or 0.0 for run in good["run"]]
        goodput = [value / 1e6 for value in study.flows["goodput_bps"]]
        verdicts = dict(study.runs["verdict"].value_counts().iter_rows())
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    mean = of_mean(goodput) if goodput else None
    row = [
        "one" if jobs == 1 else "the budget's" if jobs is None else str(jobs),
        f"{took:.0f}",
        f"{runs * seconds / took:.2f}",
        told,
        "-" if mean is None else f"{mean.value:.2f} +- {mean.half_width or 0:.2f}",
        f"{sum(cost) / len(cost):.2f}" if cost else "-",
    ]
    return row, goodput


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=16)
    options = parser.parse_args()
    rows, found = [], []
    for jobs in (1, 4, None):
        row, goodput = measure(options.seconds, options.runs, jobs)
        rows.append(row)
        found.append(goodput)
    planned = cores(expand(load({**SCENARIO, "duration": f"{options.seconds} s"})))
    columns = ["at a time", "s in all", "seconds of runs per second", "verdicts", "goodput (Mbit/s)", "cores a run"]
    show(f"{options.runs} runs of 50 Mbit/s for {options.seconds} s; the plan says {planned:.2f} cores", columns, rows)
    for at_once, goodput in zip(("4", "the budget's"), found[1:], strict=True):
        if len(goodput) > 1 and len(found[0]) > 1:
            apart = welch_difference(found[0], goodput)
            print(f"{at_once} at a time - one: {apart.value:+.3f} Mbit/s ({apart.low:+.3f} to {apart.high:+.3f})")


if __name__ == "__main__":
    main()
