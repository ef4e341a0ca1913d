"""Measures under one engine how much the seed alone changes a scenario's figures, to decide whether a difference of
engines is more than chance.

Two flows that start alike end apart, and a few packets decide who gets ahead: runs of one engine with different seeds
then differ by more than the targets allow. A few runs can't show that; the simulator has hundreds in the time of one
emulated run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dumbbell.agree.comparison import Comparison
from dumbbell.agree.figures import JAIN, RTT_P50, TOTAL_GOODPUT
from dumbbell.engines.protocol import Engine
from dumbbell.scenario.model import Scenario
from dumbbell.studies import run

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.studies import Study

SHARE: Final = 0.95
"""Share of the runs within the range."""


@dataclass(frozen=True)
class Range:
    """The range of most runs."""

    low: float
    high: float
    n: int
    """Number of seeds."""

    def holds(self, value: float) -> bool:
        """True if `value` lies in the range."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Spread:
    """The ranges of one scenario, for each quantity that has a target, by measure and flow."""

    ranges: dict[tuple[str, str], Range]

    def is_chance(self, comparison: Comparison, measure: str, of: str = "") -> bool | None:
        """True if the first engine's mean lies where runs of the second with other seeds do; `None` if that is
        unknown."""
        row = comparison.get(measure, "flow" if of else "run", of)
        found = self.ranges.get((measure, of))
        return None if row is None or found is None else found.holds(row.first_mean)


def spread(scenario: Scenario, seeds: int, directory: Path, engine: str | Engine) -> Spread:
    """Run `scenario` under `engine` with `seeds` seeds; runs on disk in `directory` are not repeated."""
    found = run(scenario, directory=directory, engine=engine, repeat=seeds, report=False)
    return Spread(_ranges(found, float(scenario.duration) / 1e9))


def _ranges(study: Study, duration_s: float) -> dict[tuple[str, str], Range]:
    import polars as pl

    total = study.flows.group_by("run").agg(mbit=8e-6 * pl.col("received_bytes").sum() / duration_s)
    columns = {(TOTAL_GOODPUT, ""): total["mbit"], (JAIN, ""): study.runs["jain_index"]}
    for (flow,), rows in study.flows.group_by("id", maintain_order=True):
        columns[RTT_P50, str(flow)] = rows["rtt_p50_ms"]
    ranges = {key: _range(values.drop_nulls()) for key, values in columns.items()}
    return {key: found for key, found in ranges.items() if found is not None}


def _range(values: pl.Series) -> Range | None:
    if values.is_empty():
        return None
    low, high = (values.quantile(edge, "linear") for edge in ((1 - SHARE) / 2, (1 + SHARE) / 2))
    return Range(float(low or 0), float(high or 0), values.len())
