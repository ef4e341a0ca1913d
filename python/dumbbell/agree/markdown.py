"""The matrix's table for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import polars as pl

from dumbbell.agree import targets
from dumbbell.report import words

HEAD: Final = (
    *("flows", "Mbit/s", "RTT ms", "buffer BDP", "loss %", "n", "goodput, emulated Mbit/s", "ratio", "90 % interval"),
    *("needs n", "RTT p50 ms", "Jain", "agreement"),
)


def markdown(table: pl.DataFrame) -> str:
    """The share of cells within the targets, and a row for each cell. Pairs of values are emulated / simulated."""
    rows = table.to_dicts()
    lines = [*summary(rows), "", _line(HEAD), _line("---" for _ in HEAD), *(_line(cells_of(row)) for row in rows)]
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
    said = [f"{', '.join(parts)}.", f"Within each target: {', '.join(each)}."]
    differing = [row for row in counted if _differing(row)]
    if any(row["seeds"] for row in differing):
        chance = sum(all(row[f"{key}_chance"] for key in _differing(row)) for row in differing)
        said.append(f"{len(differing)} differ by more than a target; {chance} of them by chance.")
    return said


def within_targets(table: pl.DataFrame) -> bool:
    """True if enough cells are inside."""
    inside = table.filter(pl.col("agreement") == targets.Status.INSIDE.value).height
    return table.height > 0 and inside >= targets.CELLS * table.height


def _share(rows: list[Mapping[str, Any]], key: str, status: str) -> str:
    known = [row for row in rows if row[key] is not None]
    return f"{sum(row[key] == status for row in known)} of {len(known)}"


def cells_of(row: Mapping[str, Any]) -> list[str]:
    """A row of the table as text; `HEAD` names the columns."""
    return [
        row["flows"].replace("-", " + "),
        str(row["rate_mbit"]),
        str(row["rtt_ms"]),
        f"{row['buffer_bdp']:g}",
        f"{row['loss_percent']:g}",
        str(row["repetitions"]),
        _number(row["goodput_emulated_mbit"], 2),
        _number(row["goodput_ratio"], 4),
        _span(row["goodput_ratio_low"], row["goodput_ratio_high"]),
        "-" if row["repetitions_needed"] is None else str(row["repetitions_needed"]),
        _pair(row["rtt_p50_emulated_ms"], row["rtt_p50_simulated_ms"], 1),
        _pair(row["jain_emulated"], row["jain_simulated"], 3),
        _verdict(row),
    ]


def _verdict(row: Mapping[str, Any]) -> str:
    missed = [_told(row, key) for key in _missed(row)]
    return f"{row['agreement']} ({', '.join(missed)})" if missed else str(row["agreement"])


def _missed(row: Mapping[str, Any]) -> list[str]:
    return [key for key in ("goodput", "rtt", "jain") if row[key] not in (None, "inside")]


def _differing(row: Mapping[str, Any]) -> list[str]:
    """The targets that the measured values miss, whatever their intervals."""
    ratio = row["goodput_ratio"]
    low, high = targets.GOODPUT_BOUNDS
    return [key for key in _missed(row) if key != "goodput" or ratio is None or not low <= ratio <= high]


def _told(row: Mapping[str, Any], key: str) -> str:
    """The target, and whether other seeds explain that it is missed."""
    chance = row[f"{key}_chance"]
    if chance is None or key not in _differing(row):
        return key
    return f"{key}: {'chance' if chance else 'not chance'}"


def _number(value: float | None, digits: int) -> str:
    return words.UNKNOWN if value is None else f"{value:.{digits}f}"


def _pair(emulated: float | None, simulated: float | None, digits: int) -> str:
    return words.UNKNOWN if emulated is None else f"{_number(emulated, digits)} / {_number(simulated, digits)}"


def _span(low: float | None, high: float | None) -> str:
    return words.UNKNOWN if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
