"""Compares what `dumbbell pcap` says of a run's packets with the run's own records of the same packets.

A run logs each packet with its number, so its records tell a copy (a number that passes twice), what was sent again
(bytes below those of an earlier number), and what was overtaken (all else that is below what has passed). Which bytes a
capture point had seen is exact, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.captures.capture import Capture
from dumbbell.outputs import write_parquet
from dumbbell.plan.network import network
from dumbbell.plan.types import Flow, Plan

TRUTH: Final = "truth.parquet"
"""In the directory of an analysed capture of a run: a row for each packet with data that is not new data in order, by
its own records or by the analysis.

`connection`, `time_ns` and `seq` as in `events`; `real`: `sent-again`, `late`, `copied` or `new`; `real_class`:
`repeat`, `overlap`, `fill`, `duplicate` or null; `class` and `cause`: what the analysis says, null if it takes it for
new data; `class_right`, `cause_right`: whether that is so.
"""
_Ints = npt.NDArray[np.int64]
_SCHEMA: Final = {
    "connection": pl.Int64, "time_ns": pl.Int64, "seq": pl.Int64, "real": pl.String, "real_class": pl.String,
}  # fmt: skip
_KEYS: Final = ["connection", "time_ns", "seq", "place"]


def judge(capture: Capture, packets: pl.DataFrame, plan: Plan, at: str, connections: Mapping[str, int]) -> pl.DataFrame:
    """Compare the events of a run's capture with the run's packets, and write `TRUTH`; return it.

    Args:
        capture: The run's capture, analysed at `at`.
        packets: The run's table `packets`.
        plan: The run's plan.
        at: `sender` or `receiver`.
        connections: The number of each flow's connection, of flows that have one.
    """
    parts = [
        _real(capture, packets, plan, flow, connections[flow.id], at) for flow in plan.flows if flow.id in connections
    ]
    real = pl.concat(parts) if parts else pl.DataFrame(schema=_SCHEMA)
    said = capture.events.filter(
        (pl.col("bytes") > 0)
        & (pl.col("direction").cast(pl.String) == "to-server")
        & (pl.col("class").cast(pl.String) != "unseen")
        & pl.col("connection").is_in(list(connections.values()))
    ).select(
        pl.col("connection").cast(pl.Int64),
        "time_ns",
        "seq",
        pl.col("class").cast(pl.String),
        pl.col("cause").cast(pl.String),
    )
    # A link may copy a packet at once: then two have one time.
    nth = pl.int_range(pl.len()).over(_KEYS[:3]).alias("place")
    both = real.with_columns(nth).join(said.with_columns(nth), on=_KEYS, how="full", coalesce=True)
    is_again = (pl.col("real") == "sent-again") & pl.col("cause").is_in(["reordered", "network-duplicate"]).not_()
    is_other = pl.col("cause") == pl.col("real").replace({"late": "reordered", "copied": "network-duplicate"})
    found = (
        both.with_columns(pl.col("real").fill_null("new"))
        .with_columns(
            class_right=pl.col("class").eq_missing(pl.col("real_class")),
            cause_right=(is_again | is_other).fill_null(value=False),
        )
        .drop("place")
        .sort("connection", "time_ns", maintain_order=True)
    )
    write_parquet(found, capture.directory / TRUTH)
    return found


def _real(capture: Capture, packets: pl.DataFrame, plan: Plan, flow: Flow, number: int, at: str) -> pl.DataFrame:
    """Packets of a flow with data below what had passed, in the order in which they passed."""
    known = network(plan)
    links = [link.name for link in known.there(flow) if not known.facts[link.name].is_transparent]
    mine = packets.filter((pl.col("flow").cast(pl.String) == flow.id) & pl.col("tcp_seq").is_not_null())
    first = mine.filter(pl.col("link").cast(pl.String) == links[0]).sort("packet", maintain_order=True)
    if at == "sender":
        passed = first.with_columns(at_ns="arrival_ns").sort("at_ns", "packet", maintain_order=True)
    else:
        last = (pl.col("link").cast(pl.String) == links[-1]) & (pl.col("fate").cast(pl.String) == "delivered")
        passed = mine.filter(last).with_columns(at_ns="delivery_ns").sort("at_ns", maintain_order=True)
    sent = first.filter(pl.col("payload_bytes") > 0).unique("packet", keep="first", maintain_order=True)
    passed = passed.filter(pl.col("payload_bytes") > 0)
    if first.is_empty() or passed.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    # The SYN is the first packet that a flow sends: data begin behind it.
    begin = int(first["tcp_seq"][0]) + 1
    start, size = _places(sent, begin)
    again = set(sent["packet"].filter(pl.Series(start < _highest(start + size))).to_list())
    start, size = _places(passed, begin)
    below, seen = seen_below(start, start + size)
    rows = passed.with_row_index("at").filter(pl.Series(below))
    is_copy = passed.select(pl.col("packet").is_first_distinct().not_()).to_series().filter(pl.Series(below))
    real = [
        "copied" if copy else "sent-again" if packet in again else "late"
        for packet, copy in zip(rows["packet"].to_list(), is_copy.to_list(), strict=True)
    ]
    return pl.DataFrame(
        {
            "connection": [number] * rows.height,
            "time_ns": rows["at_ns"].to_numpy() - int(capture.summary["origin_ns"]),
            "seq": start[below],
            "real": real,
            "real_class": [
                "duplicate" if kind == "copied" else word for kind, word in zip(real, seen[below], strict=True)
            ],
        },
        schema=_SCHEMA,
    )


def _places(rows: pl.DataFrame, begin: int) -> tuple[_Ints, _Ints]:
    """First bytes, counted from 0 without wrapping, and sizes."""
    raw = rows["tcp_seq"].cast(pl.Int64).to_numpy()
    # Neighbours are less than half of all numbers apart.
    steps = (np.diff(raw, prepend=begin) + 2**31) % 2**32 - 2**31
    return np.cumsum(steps), rows["payload_bytes"].cast(pl.Int64).to_numpy()


def _highest(ends: _Ints) -> _Ints:
    """The highest end before each."""
    highest: _Ints = np.maximum.accumulate(ends)
    return np.concatenate(([0], highest[:-1]))


def seen_below(start: _Ints, end: _Ints) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.object_]]:
    """Which packets are below what had passed, and whether all their bytes had, some, or none."""
    highest = _highest(end)
    below = start < highest
    seen = np.full(len(start), None, dtype=object)
    holes: list[tuple[int, int]] = []
    for at in np.flatnonzero(start != highest).tolist():
        if not below[at]:
            holes.append((int(highest[at]), int(start[at])))
            continue
        low, high = int(start[at]), int(end[at])
        fresh = sum(max(0, min(to, high) - max(since, low)) for since, to in holes) + max(0, high - int(highest[at]))
        seen[at] = "repeat" if fresh == 0 else "fill" if fresh == high - low else "overlap"
        holes = [part for hole in holes for part in _without(hole, low, high)]
    return below, seen


def _without(hole: tuple[int, int], low: int, high: int) -> list[tuple[int, int]]:
    since, to = hole
    return [part for part in ((since, min(to, low)), (max(since, high), to)) if part[0] < part[1]]


def matrix(rows: pl.DataFrame) -> list[tuple[str, str, int]]:
    """Truth, statement and number of packets: the most frequent first for each truth."""
    real = pl.concat_str(pl.col("real_class").fill_null("new data"), pl.col("real").replace({"new": ""}), separator=" ")
    said = pl.concat_str(pl.col("class").fill_null("new data"), pl.col("cause").fill_null(""), separator=" ")
    counted = rows.group_by(real=real.str.strip_chars(), said=said.str.strip_chars()).len()
    return counted.sort("real", "len", "said", descending=[False, True, False]).rows()
