"""The matrix's summary for the documentation: shares, and the cells that are not inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import polars as pl

from dumbbell.agree import targets
from dumbbell.agree.comparison import Engines
from dumbbell.agree.page import STEM
from dumbbell.report import words

CELLS: Final = 0.95
"""Required share of a matrix's cells within all targets."""

_PATH: Final = ("flows", "Mbit/s", "RTT ms", "buffer BDP", "loss %", "n")
_FOUND: Final = ("ratio", "90 % interval", "needs n", "RTT p50 ms", "Jain", "agreement")


def head(engines: Engines) -> list[str]:
    """The columns of `cells_of`."""
    return [*_PATH, f"goodput, {engines[0]}, Mbit/s", *_FOUND]


def markdown(table: pl.DataFrame, engines: Engines, starts: str | None = None) -> str:
    """Returns the share of cells within the targets, and a row for each other cell; the CSV file has all cells.

    Pairs of values are first / second engine.

    Args:
        table: `table.table`'s.
        engines: the two.
        starts: by how much flows started later at most; `None` if they started when the scenarios say.
    """
    rows, names = table.to_dicts(), head(engines)
    cells = [_line(cells_of(row, engines)) for row in rows if row["agreement"] != targets.Status.INSIDE.value]
    lines = [*summary(rows), f"All cells are in `{STEM}.csv`."]
    lines += [f"Each flow started by chance up to {starts} later."] if starts else []
    if cells:
        lines += [
            f"Pairs of values are {engines[0]} / {engines[1]}.",
            "",
            _line(names),
            _line("---" for _ in names),
            *cells,
        ]
    return "\n".join(lines) + "\n"


def summary(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Sentences that say how many cells are within all targets, and within each."""
    counted = [row for row in rows if row["repetitions"]]
    n = len(counted)
    if not n:
        return ["No cell was measured."]
    parts = [f"{_share(counted, 'agreement', 'inside')} cells are within all targets"]
    parts += [f"{_share(counted, 'agreement', status)} {status}" for status in ("undecided", "outside")]
    by_target = {"goodput": "total goodput", "rtt": "RTT", "jain": "Jain's index"}
    each = [f"{word} {_share(counted, key, 'inside')}" for key, word in by_target.items()]
    return [f"{', '.join(parts)}.", f"Within each target: {', '.join(each)}."]


def within_targets(table: pl.DataFrame) -> bool:
    """True if enough cells are inside."""
    inside = table.filter(pl.col("agreement") == targets.Status.INSIDE.value).height
    return table.height > 0 and inside >= CELLS * table.height


def _share(rows: list[Mapping[str, Any]], key: str, status: str) -> str:
    known = [row for row in rows if row[key] is not None]
    return f"{sum(row[key] == status for row in known)} of {len(known)}"


def cells_of(row: Mapping[str, Any], engines: Engines) -> list[str]:
    """A row of the table as text; `head` names the columns."""
    first, second = engines
    return [
        row["flows"].replace("-", " + ") + (f"; {row['also']}" if row["also"] else ""),
        f"{row['rate_mbit']:g}",
        f"{row['rtt_ms']:g}",
        f"{row['buffer_bdp']:g}",
        f"{row['loss_percent']:g}",
        str(row["repetitions"]),
        _number(row[f"goodput_{first}_mbit"], 2),
        _number(row["goodput_ratio"], 4),
        _span(row["goodput_ratio_low"], row["goodput_ratio_high"]),
        "-" if row["repetitions_needed"] is None else str(row["repetitions_needed"]),
        _pair(row[f"rtt_p50_{first}_ms"], row[f"rtt_p50_{second}_ms"], 1),
        _pair(row[f"jain_{first}"], row[f"jain_{second}"], 3),
        _verdict(row),
    ]


def _verdict(row: Mapping[str, Any]) -> str:
    missed = [key for key in ("goodput", "rtt", "jain") if row[key] not in (None, "inside")]
    return f"{row['agreement']} ({', '.join(missed)})" if missed else str(row["agreement"])


def _number(value: float | None, digits: int) -> str:
    return words.UNKNOWN if value is None else f"{value:.{digits}f}"


def _pair(first: float | None, second: float | None, digits: int) -> str:
    return words.UNKNOWN if first is None else f"{_number(first, digits)} / {_number(second, digits)}"


def _span(low: float | None, high: float | None) -> str:
    return words.UNKNOWN if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
