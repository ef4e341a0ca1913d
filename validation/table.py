"""The matrix as a table: a row per cell, with the values of two engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, Final

import polars as pl

from dumbbell.agree import targets
from dumbbell.agree.comparison import Engines, Row
from dumbbell.agree.figures import (
    JAIN,
    QUEUE_P50,
    QUEUE_P95,
    RETRANSMITTED,
    RTT_P50,
    TOTAL_GOODPUT,
    UTILISATION,
)
from dumbbell.agree.study import Outcome
from dumbbell.agree.table import interval
from dumbbell.statistics.frames import BOTTLENECK
from validation.drawn import About

_COLUMNS: Final[dict[str, pl.DataType]] = {
    "cell": pl.String(),
    "flows": pl.String(),
    "rate_mbit": pl.Float64(),
    "rtt_ms": pl.Float64(),
    "buffer_bdp": pl.Float64(),
    "loss_percent": pl.Float64(),
    "duration_s": pl.Float64(),
    "also": pl.String(),
    "repetitions": pl.Int64(),
    "agreement": pl.String(),
    "goodput": pl.String(),
    "goodput_{first}_mbit": pl.Float64(),
    "goodput_{second}_mbit": pl.Float64(),
    "goodput_ratio": pl.Float64(),
    "goodput_ratio_low": pl.Float64(),
    "goodput_ratio_high": pl.Float64(),
    "repetitions_needed": pl.Int64(),
    "rtt": pl.String(),
    "rtt_flow": pl.String(),
    "rtt_p50_{first}_ms": pl.Float64(),
    "rtt_p50_{second}_ms": pl.Float64(),
    "rtt_p50_difference_low_ms": pl.Float64(),
    "rtt_p50_difference_high_ms": pl.Float64(),
    "jain": pl.String(),
    "jain_{first}": pl.Float64(),
    "jain_{second}": pl.Float64(),
    "jain_difference_low": pl.Float64(),
    "jain_difference_high": pl.Float64(),
    "retransmitted_{first}": pl.Float64(),
    "retransmitted_{second}": pl.Float64(),
    "queue_p50_{first}_ms": pl.Float64(),
    "queue_p50_{second}_ms": pl.Float64(),
    "queue_p95_{first}_ms": pl.Float64(),
    "queue_p95_{second}_ms": pl.Float64(),
    "utilisation_{first}": pl.Float64(),
    "utilisation_{second}": pl.Float64(),
}
"""Columns, explained in `docs/explanation/agreement.md`; engines have their names in them."""


def columns(engines: Engines) -> dict[str, pl.DataType]:
    """The columns of `table`."""
    return {name.format(first=engines[0], second=engines[1]): kind for name, kind in _COLUMNS.items()}


def table(cells: Mapping[str, About], outcomes: Sequence[Outcome], engines: Engines) -> pl.DataFrame:
    """A row for each outcome, whose subject is the cell of the same name. Null where there is no measurement."""
    rows = [_row(cells[outcome.subject.name], outcome) for outcome in outcomes]
    return pl.DataFrame(rows, schema=columns(engines))


def _row(cell: About, outcome: Outcome) -> dict[str, Any]:
    found = outcome.comparison
    judged = targets.judge(found)
    goodput, jain = found.get(TOTAL_GOODPUT), found.get(JAIN)
    worst = max(found.of(RTT_P50, "flow"), key=targets.rtt_excess, default=None)
    about: dict[str, Any] = {
        "cell": cell.name,
        "flows": cell.mix,
        "rate_mbit": cell.rate_mbit,
        "rtt_ms": cell.rtt_ms,
        "buffer_bdp": cell.buffer_bdp,
        "loss_percent": cell.loss_percent,
        "duration_s": cell.duration_s,
        "also": ", ".join(cell.also),
        "repetitions": found.repetitions,
        "agreement": targets.overall(judged).value,
        "repetitions_needed": targets.needed(found),
        "rtt_flow": None if worst is None else worst.what.of,
    }
    for column, name in (("goodput", TOTAL_GOODPUT), ("rtt", RTT_P50), ("jain", JAIN)):
        mine = [one for one in judged if one.target.startswith(name)]
        about[column] = targets.overall(mine).value if mine else None
    engines = found.engines
    about |= _both(engines, "goodput_{}_mbit", goodput)
    about |= _both(engines, "rtt_p50_{}_ms", worst) | _both(engines, "jain_{}", jain)
    ratio = None if goodput is None else goodput.ratio
    if ratio is not None:
        about |= interval("goodput_ratio", ratio)
    for stem, unit, row in (("rtt_p50", "_ms", worst), ("jain", "", jain)):
        off = None if row is None else row.difference
        about |= {f"{stem}_difference_low{unit}": off and off.low, f"{stem}_difference_high{unit}": off and off.high}
    about |= _sum(engines, "retransmitted_{}", found.of(RETRANSMITTED, "flow"))
    for name, measure in (
        ("queue_p50_{}_ms", QUEUE_P50),
        ("queue_p95_{}_ms", QUEUE_P95),
        ("utilisation_{}", UTILISATION),
    ):
        about |= _both(engines, name, found.get(measure, "link", BOTTLENECK))
    return about


def _both(engines: Engines, name: str, row: Row | None) -> dict[str, float | None]:
    if row is None:
        return {}
    return {name.format(engines[0]): row.first_mean, name.format(engines[1]): row.second_mean}


def _sum(engines: Engines, name: str, rows: Sequence[Row]) -> dict[str, float | None]:
    """Sums over all flows."""
    if not rows:
        return {}
    first = [sum(values) for values in zip(*(row.first for row in rows), strict=True)]
    second = [sum(values) for values in zip(*(row.second for row in rows), strict=True)]
    return {name.format(engines[0]): mean(first), name.format(engines[1]): mean(second)}
