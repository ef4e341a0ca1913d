"""CSV of time, rate and delay, with the names and units of its columns in the first line.

`time_s,rate_Mbps,rtt_ms`: what passed since the line before, with headers (`rate`, `throughput`) or as payload
(`goodput`), and the round trip (`rtt`) or the delay of one direction (`delay`) at that time. A delay may be left out.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

import numpy as np

from dumbbell.errors import InputError
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs.sampled import LEAST, fit_samples
from dumbbell.fitting.logs.samples import Samples
from dumbbell.fitting.trace import Floats
from dumbbell.units import Rate, Time

SOURCE: Final = "table"
MOST_ROWS: Final = 2_000_000
MOST_COLUMNS: Final = 1_000
_EXAMPLE: Final = "time_s,rate_Mbps,rtt_ms and below it 0.1,9.8,45.2, say"
_FORM: Final = re.compile(rb"\A(?:(?:#.*+|[^\S\n]*+)\n)*+\"?(?i:time|t\b|timestamp)[^\n]*[,;\t]")
_COLUMN: Final = re.compile(r"([a-z]+)(?:[_ ]?[(\[]?([a-z/]+)[)\]]?)?")
_NAMES: Final = {
    "t": "time", "time": "time", "timestamp": "time",
    "rate": "rate", "throughput": "rate", "bandwidth": "rate",
    "goodput": "goodput",
    "rtt": "rtt", "latency": "rtt",
    "delay": "delay", "owd": "delay",
}  # fmt: skip
_TIMES: Final = {unit.lower(): size / 1e9 for unit, size in Time.grammar.units.items()}
_RATES: Final = {
    **{unit.lower(): float(size) for unit, size in Rate.grammar.units.items()},
    **{alias.lower(): float(Rate.grammar.units[unit]) for alias, unit in Rate.grammar.aliases.items()},
}
_SCALES: Final = {
    "time": (_TIMES, "s"), "rate": (_RATES, "bit/s"), "goodput": (_RATES, "bit/s"),
    "rtt": (_TIMES, "s"), "delay": (_TIMES, "s"),
}  # fmt: skip


def is_form(head: bytes) -> bool:
    """Returns true for text whose first line names columns, the first of which is a time."""
    return _FORM.match(head) is not None


def fit(text: str, name: str, connection: str | None) -> Fit:
    """Fits a path to a table. Raises `InputError`."""
    if connection is not None:
        raise InputError(f"{name} has no connections", "it is a table of one transfer", "leave out --connection")
    columns = _columns(text, name)
    time = columns["time"]
    if len(time) < LEAST + 1:
        raise InputError(f"{name} is too short", f"it has {len(time)} rows, and needs {LEAST + 1}", _EXAMPLE)
    if not (np.diff(time) > 0).all():
        line = int(np.flatnonzero(np.diff(time) <= 0)[0]) + 2
        raise InputError(f"{name}: the time of row {line} does not rise", "each row is later than the one before")
    is_payload = "goodput" in columns
    rate = columns["goodput" if is_payload else "rate"]
    width = np.diff(time)
    delay = columns.get("rtt", columns.get("delay", np.full(len(time), np.nan)))
    samples = Samples(
        name, SOURCE, "sender", 1, time[:-1], time[1:], rate[1:] * width / 8, delay[1:] * 1e9,
        np.full(len(width), np.nan), np.zeros(len(width), dtype=bool), is_round_trip="delay" not in columns,
    )  # fmt: skip
    if not is_payload:
        payload = samples.payload_bytes / samples.frame_share
        samples = Samples(**{**vars(samples), "payload_bytes": payload})
    return fit_samples(samples)


def _columns(text: str, name: str) -> dict[str, Floats]:
    # A list of all lines would be many times as large as the text.
    lines = (match[0].strip() for match in re.finditer(r"[^\r\n]++", text))
    rows = list(islice((line for line in lines if line and not line.startswith("#")), MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        raise InputError(f"{name} is too long", f"it has more than {MOST_ROWS:,} rows", "use a part of it")
    comma = next((mark for mark in ",;\t" if mark in rows[0]), ",")
    cells = [cell.strip().strip('"') for cell in rows[0].split(comma, MOST_COLUMNS)]
    if len(cells) > MOST_COLUMNS:
        raise InputError(f"{name} is too wide", f"it has more than {MOST_COLUMNS:,} columns", f"write {_EXAMPLE}")
    scales = [_scale(cell, name) for cell in cells]
    names = [one[0] for one in scales if one is not None]
    if "time" not in names or ("rate" in names) == ("goodput" in names) or (("rtt" in names) and ("delay" in names)):
        why = "it needs a time, one of rate and goodput, and at most one of rtt and delay"
        raise InputError(f"{name} is not a table of a transfer", why, f"write {_EXAMPLE}")
    if len(set(names)) < len(names):
        raise InputError(f"{name} has two columns of one name", ", ".join(names), f"write {_EXAMPLE}")
    values: dict[str, list[float]] = {one: [] for one in names}
    for number, row in enumerate(rows[1:], 2):
        parts = row.split(comma, len(cells))
        if len(parts) != len(cells):
            cut = "more" if len(parts) > len(cells) else str(len(parts))
            raise InputError(f"{name}: row {number} has {cut} cells", f"the first line has {len(cells)}")
        for one, part in zip(scales, parts, strict=True):
            if one is not None:
                values[one[0]].append(_value(part, one, name, number))
    return {one: np.array(column) for one, column in values.items()}


def _scale(cell: str, name: str) -> tuple[str, float] | None:
    """The column's meaning and unit; None for one that is not used."""
    match = _COLUMN.fullmatch(cell.lower())
    known = _NAMES.get(match[1]) if match else None
    if match is None or known is None:
        return None
    units, default = _SCALES[known]
    unit = match[2] or default
    if unit not in units:
        raise InputError(f"{name}: {cell[:30]!r} has an unknown unit", f"known: {', '.join(units)}", _EXAMPLE)
    return known, units[unit]


def _value(text: str, column: tuple[str, float], name: str, row: int) -> float:
    text = text.strip().strip('"')
    if text.lower() in ("", "nan", "null", "na") and column[0] in ("rtt", "delay"):
        return np.nan
    try:
        value = float(text) * column[1]
    except ValueError:
        value = np.nan
    if not 0 <= value < 1e15:
        why = "a number that is not negative was expected"
        raise InputError(f"{name}: row {row}: {text[:20]!r} is not a {column[0]}", why, f"write {_EXAMPLE}")
    return value
