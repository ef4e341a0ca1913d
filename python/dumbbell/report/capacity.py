"""The capacity of a way over time, where it is no constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.records import Run
from dumbbell.report.facts import Facts, rate_bps
from dumbbell.report.levels import few

_Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class _Sent:
    """The bytes that a link could have sent by each sampling time, from the `links` table."""

    time_ns: _Floats
    bytes: _Floats
    """NaN while there was no limit."""

    def rates_bps(self, middle_ns: pl.Series, width_ns: int) -> _Floats:
        """The mean capacity of each interval around `middle_ns`; NaN without a limit."""
        middle = middle_ns.to_numpy()
        start = np.clip(middle - width_ns / 2, 0, self.time_ns[-1])
        end = np.clip(middle + width_ns / 2, 0, self.time_ns[-1])
        span = np.where(end > start, end - start, np.nan)
        sent = np.interp(end, self.time_ns, self.bytes) - np.interp(start, self.time_ns, self.bytes)
        rates: _Floats = 8e9 * sent / span
        return rates


@dataclass(frozen=True)
class VaryingCapacity:
    """The capacity of a way."""

    name: str
    links: tuple[_Sent, ...]

    @classmethod
    def read(cls, run: Run, known: Facts) -> list[VaryingCapacity]:
        """The ways whose capacity is no constant; none if it was not recorded, or if routing daemons may choose others.

        If there are more than three, only the smallest mean, one in the middle and the largest are returned.
        """
        varying = sorted((way for way in known.ways if not way.is_constant), key=lambda way: rate_bps(way.narrowest))
        ways = [way.links for way in few(varying)]
        if not ways or run.has("routes") or not run.has("links"):
            return []
        names = {link.name for links in ways for link in links}
        known_links = {name: sent for name in names if (sent := _read(run, name)) is not None}
        found = []
        for links in ways:
            told = tuple(known_links[link.name] for link in links if link.name in known_links)
            name = "capacity" if len(ways) == 1 else f"capacity of {', '.join(link.name for link in links)}"
            found += [cls(name, told)] if told else []
        return found

    def rates_bps(self, middle_ns: pl.Series, width_ns: int) -> pl.Series:
        """The least mean capacity of the way's links in each interval around `middle_ns`; null without a limit."""
        rates = np.fmin.reduce([link.rates_bps(middle_ns, width_ns) for link in self.links])
        return pl.Series(rates).fill_nan(None)


def _read(run: Run, link: str) -> _Sent | None:
    """`None` if the table has nothing of the link."""
    rows = run.scan("links").filter(pl.col("link") == link).sort("time_ns")
    table = rows.select("time_ns", pl.col("capacity_bytes").cast(pl.Float64).fill_null(float("nan"))).collect()
    if table.is_empty():
        return None
    time, sent = (np.concatenate(([0.0], table[column].to_numpy())) for column in table.columns)
    return _Sent(time, sent)
