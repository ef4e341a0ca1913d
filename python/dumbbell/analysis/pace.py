"""Compares the rate of a link while it had packets to send with the rate of its plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.analysis.capacity import Capacity
from dumbbell.frozen import dataclass
from dumbbell.plan.network import History

SHORTEST_WINDOW_NS = 100_000_000
"""Shorter busy windows are left out: the lateness of their two ends would weigh more than the rate."""


@dataclass(frozen=True)
class Pace:
    """The rate of a link according to its departures."""

    achieved: float | None
    """Share of the configured rate that it reached while it was busy; `None` if it never was for long enough."""
    excess_packets: float
    """The most that it sent beyond its capacity in any time, in packets of the largest size."""


def lateness(packets: pl.LazyFrame) -> pl.LazyFrame:
    """`packet` and its `lateness` in ns: how long after it was due it was handed over at the end of its path."""
    late = (pl.col("sent_ns") - pl.col("delivery_ns")).min()
    # A copy has the number of its original, and leaves right behind it.
    return packets.filter(pl.col("sent_ns").is_not_null()).group_by("packet").agg(lateness=late)


MOST_ROWS: Final = 4_000_000
"""Packets of several links that are held in memory together: a scan for each of thousands of links takes longer."""


def measure(packets: pl.LazyFrame, histories: Mapping[str, History], counts: Mapping[str, int]) -> dict[str, Pace]:
    """The pace of each link in `histories`, all of which have a rate at all times.

    Args:
        packets: the table `packets`.
        histories: what each link is over time.
        counts: rows of `packets` per link.
    """
    found = dict.fromkeys(histories, Pace(None, 0.0))
    late = lateness(packets).collect(engine="streaming").lazy() if histories else packets
    for names in _batches([(name, counts[name]) for name in histories if counts.get(name)]):
        of_links = _departures(packets, names, late).partition_by("link", as_dict=True, include_key=False)
        for (name,), rows in of_links.items():
            found[name] = _pace(rows, histories[name])
    return found


def _batches(counts: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """Names of links with at most `MOST_ROWS` packets together, or one link alone."""
    names: list[str] = []
    rows = 0
    for name, count in counts:
        if names and rows + count > MOST_ROWS:
            yield names
            names, rows = [], 0
        names.append(name)
        rows += count
    if names:
        yield names


def _pace(rows: pl.DataFrame, history: History) -> Pace:
    """The pace of a link with these departures.

        achieved = (sent / capacity) * (planned time / real time), over all busy windows

    A busy window is a series of departures each of which was waiting when the one before it left, so it holds for any
    rate and discipline; a link with slots may idle while packets wait, and has none. Capacity is what the plan allows
    within the window. The real time of a departure is the scheduled one plus the lateness with which the packet was
    handed over at the end of its path, so an emulator that falls behind shows here, whatever its virtual clock says.
    The first packet of a window marks its start and does not count. Excess is looked for in every time between two
    departures, of whatever link.
    """
    departure = rows["departure_ns"].to_numpy()
    size = rows["size_bytes"].cast(pl.Int64).to_numpy() + history[0][1].overhead_bytes
    sent = np.cumsum(size)
    capacity = Capacity(history, int(departure[-1]))
    before, until = capacity.before(departure), capacity.until(departure)
    excess = (sent - until) - np.minimum.accumulate(sent - before)
    slotted = any(link.slots is not None for _, link in history)
    achieved = None if slotted else _achieved(rows, sent, before, until)
    return Pace(achieved, max(0.0, float(excess.max() / size.max())))


def _departures(packets: pl.LazyFrame, names: Sequence[str], late: pl.LazyFrame) -> pl.DataFrame:
    """The departures of these links, in order of time."""
    return (
        packets.filter(pl.col("departure_ns").is_not_null())
        .select("packet", "arrival_ns", "departure_ns", "size_bytes", link=pl.col("link").cast(pl.String))
        .filter(pl.col("link").is_in(names))
        .join(late, on="packet", how="left")
        .sort("departure_ns", maintain_order=True)
        .select("link", "arrival_ns", "departure_ns", "size_bytes", real=pl.col("departure_ns") + pl.col("lateness"))
        .collect()
    )


def _achieved(
    rows: pl.DataFrame, sent: npt.NDArray[np.int64], before: npt.NDArray[np.float64], until: npt.NDArray[np.float64]
) -> float | None:
    departure = rows["departure_ns"].to_numpy()
    idle = rows["arrival_ns"].to_numpy()[1:] >= departure[:-1]
    known = rows["real"].is_not_null().to_numpy()
    window = np.cumsum(np.concatenate(([True], idle)))[known]
    if not len(window):
        return None
    first = np.flatnonzero(np.diff(window, prepend=0))
    last = np.append(first[1:], len(window)) - 1
    sent, before, until, departure = sent[known], before[known], until[known], departure[known]
    real = rows["real"].drop_nulls().to_numpy()
    is_long = real[last] - real[first] >= SHORTEST_WINDOW_NS
    first, last = first[is_long], last[is_long]
    # Opportunities at the two ends may belong to the window or not.
    bytes = sent[last] - sent[first]
    possible = np.clip(bytes, before[last] - until[first], until[last] - before[first]).sum()
    planned_ns, real_ns = (int((of[last] - of[first]).sum()) for of in (departure, real))
    return float(bytes.sum() / possible * planned_ns / real_ns) if real_ns and possible else None
