"""Precision and recall of marks that look like PROBE_RTT, against the states that the senders were in.

    python -m benches.identify.probe_rtt

Every algorithm sends over paths that are drawn by chance. What the report marks, of intervals of 100 ms, is compared
with the states of BBR's senders; whatever it marks of others is wrong.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path as File

import polars as pl

from benches.identify.paths import Drawn, connections, draw, simulated
from benches.table import show, write_csv
from dumbbell.captures.capture import Capture
from dumbbell.captures.identify.dips import dips
from dumbbell.captures.identify.marks import Mark

FIRST = 7100
"""Number of the first path: its rules were made while looking at others, from 7000 on."""
NEAR_S = 0.3
"""A mark this near to a state means it."""

Count = tuple[int, int, int, int]
"""Marks, marks that are right, states, and states with a mark."""


def compared(path: Drawn, folder: File) -> dict[str, Count]:
    """The counts of each algorithm on a path."""
    found = {}
    with simulated(path, "simulate", folder, acks=True) as run:
        capture, names = connections(run, folder / f"marks-{path.number}")
        for number, name in names.items():
            found[name] = _of(capture, number, run.acks.filter(pl.col("flow") == name))
        shutil.rmtree(capture.directory)
    return found


def _of(capture: Capture, number: int, acks: pl.DataFrame) -> Count:
    mine = (pl.col("connection") == number) & (pl.col("direction").cast(pl.String) == "to-server")
    rows = capture.intervals.filter(mine)
    events = capture.events.filter(mine & pl.col("cause").is_not_null() & (pl.col("bytes") > 0))
    origin_s = capture.summary["origin_ns"] / 1e9
    row = capture.directions.filter(mine).to_dicts()[0]
    said = dips(
        rows["start_ns"].to_numpy() / 1e9,
        rows["in_flight_min_bytes"].cast(pl.Float64).to_numpy(),
        int(row["segment_max_bytes"] or 1),
        events["time_ns"].to_numpy() / 1e9,
    )
    real = _states(acks, origin_s)

    def meet(mark: Mark, state: tuple[float, float]) -> bool:
        return state[0] - NEAR_S < mark.end_s and mark.start_s < state[1] + NEAR_S

    right = sum(any(meet(mark, state) for state in real) for mark in said)
    met = sum(any(meet(mark, state) for mark in said) for state in real)
    return len(said), right, len(real), met


def _states(acks: pl.DataFrame, origin_s: float) -> list[tuple[float, float]]:
    """Times of PROBE_RTT from the capture's origin, that began behind it and ended before the rows do."""
    state = acks["bbr_state"].cast(pl.String).fill_null("").str.contains("probe_rtt").to_list()
    time = (acks["time_ns"].to_numpy() / 1e9 - origin_s).tolist()
    found: list[tuple[float, float]] = []
    start = None
    for at, is_in in zip(time, state, strict=True):
        if is_in and start is None:
            start = at
        elif not is_in and start is not None:
            found.append((start, at))
            start = None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--csv", type=File, metavar="FOLDER", help="write the table there, too: docs/results/data")
    options = parser.parse_args()
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(options.jobs) as pool:
        for found in pool.map(partial(compared, folder=File(scratch)), draw(FIRST, options.paths)):
            for name, counts in found.items():
                sums[name] = [old + new for old, new in zip(sums[name], counts, strict=True)]
    rows = [[name, *(f"{count:,}" for count in counts)] for name, counts in sums.items()]
    whole = [sum(counts[at] for counts in sums.values()) for at in range(4)]
    rows.append(["all", *(f"{count:,}" for count in whole)])
    columns = ["algorithm", "marks", "right", "PROBE_RTT", "marked"]
    show(f"Marks that look like PROBE_RTT, {options.paths} paths", columns, rows)
    if options.csv is not None:
        write_csv(options.csv / "identify-probe-rtt.csv", columns, rows)


if __name__ == "__main__":
    main()
