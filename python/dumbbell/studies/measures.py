"""What repetitions and expectations are about: figures by name, one value for each run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from dumbbell.scenario.bottleneck import NAMES
from dumbbell.scenario.quantities import Percent, QuantityError, Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.studies.results import Study

Unit = Literal["", "bit/s", "ms", "s", "B", "packets"]
Together = Literal["sum", "mean"]


@dataclass(frozen=True)
class Measure:
    """A column of a study's tables."""

    table: Literal["runs", "flows", "links"]
    column: str
    unit: Unit
    together: Together = "mean"
    """What several flows have together."""

    def read(self, bound: int | float | str | None) -> float | None:
        """A bound in the column's unit, from a number or a text with its unit. Raises `ValueError`."""
        if not isinstance(bound, str):
            return None if bound is None else float(bound)
        try:
            match self.unit:
                case "bit/s":
                    return float(Rate.parse(bound))
                case "ms":
                    return float(Time.parse(bound)) / 1e6
                case "s":
                    return float(Time.parse(bound)) / 1e9
                case "B":
                    return float(Size.parse(bound))
                case "":
                    return Percent.parse(bound).probability
            return float(bound)
        except QuantityError as error:
            raise ValueError(f"{bound!r}: {error.wrong}") from None

    def show(self, value: float) -> str:
        """A value with its unit: `17.5 Mbit/s`."""
        size, unit = next(
            ((size, unit) for size, unit in _SHOWN if self.unit == "bit/s" and value >= size), (1, self.unit)
        )
        return f"{value / size:.4g} {unit}".rstrip() if value < 1e4 * size else f"{value / size:,.0f} {unit}".rstrip()


_SHOWN: Final = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))


MEASURES: Final[Mapping[str, Measure]] = {
    "jain_index": Measure("runs", "jain_index", ""),
    "goodput": Measure("flows", "goodput_bps", "bit/s", "sum"),
    "rtt_min": Measure("flows", "rtt_min_ms", "ms"),
    "rtt_p50": Measure("flows", "rtt_p50_ms", "ms"),
    "rtt_p95": Measure("flows", "rtt_p95_ms", "ms"),
    "fct": Measure("flows", "fct_s", "s"),
    "received_bytes": Measure("flows", "received_bytes", "B", "sum"),
    "retransmitted_segments": Measure("flows", "retransmitted_segments", "packets", "sum"),
    "utilisation": Measure("links", "utilisation", ""),
    "drops": Measure("links", "drops", "packets"),
    "losses": Measure("links", "losses", "packets"),
    "marks": Measure("links", "marks", "packets"),
    "queue_p50": Measure("links", "queue_p50_ms", "ms"),
    "queue_p95": Measure("links", "queue_p95_ms", "ms"),
    "queue_max": Measure("links", "queue_max_ms", "ms"),
}
"""By name: a column's, without its unit."""


def by_run(study: Study, metric: str, of: str | None = None) -> pl.DataFrame:
    """`cell`, `run`, `value` of each run that can be used and has a value.

    Args:
        study: what was measured.
        metric: one of `MEASURES`.
        of: a flow, or a group of flows (those named `<of>.1`, `<of>.2`, ...); a link. Default: all flows together, the
            bottleneck.

    The goodput of several flows is what they received, from the first start to the last stop: they may have times of
    their own, and the sum of their goodputs could be more than the link carries.
    """
    import polars as pl

    measure = MEASURES[metric]
    rows = study.scan(measure.table)
    if measure.table == "runs":
        rows = rows.select("cell", "run", value=pl.col(measure.column).cast(pl.Float64))
    elif measure.table == "links":
        rows = rows.filter(pl.col("link").cast(pl.String) == (of or NAMES[0]))
        rows = rows.select("cell", "run", value=pl.col(measure.column).cast(pl.Float64))
    else:
        flow = pl.col("id").cast(pl.String)
        if of is not None:
            rows = rows.filter((flow == of) | flow.str.starts_with(f"{of}."))
        column = pl.col(measure.column)
        value = column.sum() if measure.together == "sum" else column.mean()
        if metric == "goodput":
            value = 8 * pl.col("received_bytes").sum() / (pl.col("stop_s").max() - pl.col("start_s").min())
        rows = rows.group_by("cell", "run").agg(value=value.cast(pl.Float64))
    return rows.drop_nulls().sort("run").collect()
