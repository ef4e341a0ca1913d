"""The bottleneck's capacity over time, where it is no constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.records import Run
from dumbbell.report.facts import Facts

_Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class VaryingCapacity:
    """The bytes that a link could have sent by each sampling time, from the `links` table."""

    time_ns: _Floats
    bytes: _Floats
    """NaN while there was no limit."""

    @classmethod
    def read(cls, run: Run, known: Facts) -> VaryingCapacity | None:
        """The bottleneck's capacity; `None` if it is constant or was not recorded."""
        link = known.bottleneck
        if link is None or known.is_constant or not run.has("links"):
            return None
        rows = run.scan("links").filter(pl.col("link") == link.name).sort("time_ns")
        table = rows.select("time_ns", pl.col("capacity_bytes").cast(pl.Float64).fill_null(float("nan"))).collect()
        if table.is_empty():
            return None
        time, sent = (np.concatenate(([0.0], table[column].to_numpy())) for column in table.columns)
        return cls(time, sent)

    def rates_bps(self, middle_ns: pl.Series, width_ns: int) -> pl.Series:
        """The mean capacity of each interval around `middle_ns`; null without a limit."""
        middle = middle_ns.to_numpy()
        start = np.clip(middle - width_ns / 2, 0, self.time_ns[-1])
        end = np.clip(middle + width_ns / 2, 0, self.time_ns[-1])
        span = np.where(end > start, end - start, np.nan)
        sent = np.interp(end, self.time_ns, self.bytes) - np.interp(start, self.time_ns, self.bytes)
        return pl.Series(8e9 * sent / span).fill_nan(None)
