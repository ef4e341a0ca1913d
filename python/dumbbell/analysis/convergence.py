"""How long flows take to come to their fair shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from dumbbell.core import function


def convergence_s(
    samples: pl.LazyFrame, flows: Sequence[str], start_ns: int, end_ns: int, interval_ns: int
) -> dict[str, float | None] | None:
    """Convergence time of each of `flows` between two times, in s: from `start_ns` on; `None` if it has not converged.

    The least t from which on the flow's throughput in each second until t + 5 s is within 25 % of its fair share, t and
    the seconds beginning at multiples of 100 ms. The fair share is what all of `flows` received in the second half of
    the time, divided by their number.

    M. Dong, Q. Li, D. Zarchy, P. B. Godfrey, M. Schapira: PCC: Re-architecting Congestion Control for Consistent High
    Performance, NSDI 2015, section 4.2.2. The core reckons it, for simulated studies as they go.

    Returns:
        `None` if nothing can be told: the time is shorter than 10 s, samples are more than 100 ms (`interval_ns`) from
        each other, or nothing arrived.
    """
    rows = (
        samples.filter(pl.col("received_bytes").is_not_null() & pl.col("flow").cast(pl.String).is_in(list(flows)))
        .sort("time_ns")
        .group_by(pl.col("flow").cast(pl.String))
        .agg("time_ns", "received_bytes")
        .collect()
    )
    told = {flow: (times, received) for flow, times, received in rows.iter_rows()}
    found = function("convergence_s")([told.get(flow, ([], [])) for flow in flows], start_ns, end_ns, interval_ns)
    return None if found is None else dict(zip(flows, found, strict=True))


def last_change_ns(events: Iterable[Mapping[str, int]], start_ns: int, end_ns: int) -> int:
    """From when on nothing is changed from outside: `start_ns`, or the last of a plan's `events` before `end_ns`."""
    return max([start_ns, *(event["at_ns"] for event in events if event["at_ns"] < end_ns)])
