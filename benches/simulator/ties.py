"""Count the segments that reach a link within a microsecond of another one's departure: before it, or after it.

    dumbbell run mine.toml --engine virtual --set record.packets=true
    python -m benches.simulator.ties runs/mine-*            # any runs with packets

An ACK clock lets a segment reach an idle bottleneck in the very moment in which the one before has left it. Nanoseconds
decide then whether it finds a packet more in the queue.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from benches.table import show
from dumbbell.records import Run
from dumbbell.statistics.frames import BOTTLENECK

NEAR_NS = 1_000


def ties(packets: pl.DataFrame, link: str) -> tuple[int, int, int, int, int]:
    """Segments at `link`; those near a departure, and of these the ones before it; the queue's drops among either."""
    found = packets.filter((pl.col("link").cast(pl.String) == link) & (pl.col("payload_bytes") > 0))
    departures = np.sort(found["departure_ns"].drop_nulls().to_numpy())
    arrivals = found["arrival_ns"].to_numpy()
    is_dropped = (found["fate"].cast(pl.String) == "dropped-tail").to_numpy()
    # The next departure at or after each arrival, and the last one before it.
    at = np.searchsorted(departures, arrivals)
    edged = np.concatenate([[np.iinfo(np.int64).min // 2], departures, [np.iinfo(np.int64).max // 2]])
    until, since = edged[at + 1] - arrivals, arrivals - edged[at]
    is_near = np.minimum(until, since) <= NEAR_NS
    is_before = is_near & (until <= since) & (until > 0)
    counts = (is_near, is_before, is_near & is_dropped, is_before & is_dropped)
    near, before, dropped, dropped_before = (int(np.count_nonzero(one)) for one in counts)
    return len(arrivals), near, before, dropped, dropped_before


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--link", default=BOTTLENECK)
    options = parser.parse_args()
    rows = []
    for path in options.runs:
        run = Run(path)
        if run.packets is None:
            parser.error(f"{path} has no packets: run it again with --set record.packets=true")
        rows.append([path.name, run.engine, *(f"{count:,}" for count in ties(run.packets, options.link))])
    columns = ["run", "engine", "segments", "near a departure", "before it", "drops of these", "before"]
    show(f"At {options.link}, within {NEAR_NS / 1e3:g} us", columns, rows)


if __name__ == "__main__":
    main()
