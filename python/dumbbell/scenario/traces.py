"""Files that a scenario names: read when it is loaded, so that what they hold is part of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from dumbbell import inputs
from dumbbell.frozen import dataclass
from dumbbell.scenario.understood import UNDERSTOOD
from dumbbell.units import MAX, QuantityError, Rate, Time

FOLDER = "folder"
"""Key of pydantic's validation context: where relative paths begin."""

LARGEST = 256 << 20
"""Bytes of a trace: hours of a fast link."""

MOST_LINES: Final = 2_000_000
"""Moments, rows or lost packets of a trace: as numbers they take ten times the memory of their text."""

_EXPECTED = "the path of a text file, relative to the scenario file"


@dataclass(frozen=True)
class File:
    """A file, by the name that the scenario gives it, and the text that it held."""

    name: str
    text: str

    @classmethod
    def read(cls, value: object, info: ValidationInfo) -> File:
        """Read the file that `value` names; one that was read passes unchanged. Raises `QuantityError`."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str) or not value.strip():
            raise QuantityError("not a path", _EXPECTED, 'write "cell.trace"')
        context = info.context or {}
        folder = Path(context.get(FOLDER, "."))
        if UNDERSTOOD in context:
            context[UNDERSTOOD].files += 1
        try:
            return cls(value, inputs.read_text(folder.joinpath(value), LARGEST))
        except UnicodeDecodeError:
            raise QuantityError("not a text file", _EXPECTED, "a trace is a text file in UTF-8") from None
        except (OSError, ValueError) as error:  # ValueError: a null byte in the name
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise QuantityError(f"cannot read it: {why}", _EXPECTED, _nearby(folder, value)) from None

    def __str__(self) -> str:
        """The path in the scenario."""
        return self.name

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read on validation, the name alone on serialisation to JSON."""
        name = core_schema.plain_serializer_function_ser_schema(str, when_used="json")
        return core_schema.with_info_plain_validator_function(cls.read, serialization=name)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, object]:
        """A path."""
        return {"type": "string", "minLength": 1, "examples": ["traces/cell.trace"]}


def _nearby(folder: Path, name: str) -> str:
    """The files beside a missing one."""
    try:
        there = sorted(
            path.name for path in folder.joinpath(name).parent.iterdir() if path.suffix in (".trace", ".csv")
        )
    except (OSError, ValueError):
        there = []
    return f"there is {', '.join(there[:5])}" if there else ""


def holding(parse: Callable[[str], object]) -> AfterValidator:
    """Metadata for a `File` that `parse` understands; what it says about a line is said with the file's name."""

    def check(file: File) -> File:
        try:
            parse(file.text)
        except LineError as error:
            place = f"{file.name}:{error.line}" if error.line else file.name
            raise QuantityError(f"{place}: {error.wrong}", error.expected, error.hint) from None
        return file

    return AfterValidator(check)


class LineError(ValueError):
    """A line (from 1; 0: the whole file) that does not fit."""

    def __init__(self, line: int, wrong: str, expected: str, hint: str) -> None:
        super().__init__(wrong)
        self.line = line
        self.wrong = wrong
        self.expected = expected
        self.hint = hint


@lru_cache(maxsize=32)
def mahimahi(text: str) -> tuple[tuple[int, int], ...]:
    """A Mahimahi trace: times in ns, rising, and the number of opportunities at each.

    A line is an integer of milliseconds: then one opportunity to send a full packet arises. A time may be on several
    lines. The trace begins again at the last one (mahimahi's mm-link(1)).
    """
    expected, hint = "one whole number of milliseconds per line, not falling", "three lines with 2, 4 and 4, say"
    counts: dict[int, int] = {}
    last = 0
    for number, line in _lines(text):
        if not re.fullmatch(r"[0-9]{1,12}", line):
            raise LineError(number, f"{line[:20]!r} is not a time", expected, hint)
        if int(line) < last:
            raise LineError(number, f"{line} after {last}: the times fall", expected, hint)
        last = int(line)
        counts[last * 10**6] = counts.get(last * 10**6, 0) + 1
        _check_length(number, len(counts), "moments")
    if not counts:
        raise LineError(0, "no opportunity to send", expected, hint)
    if last == 0:
        raise LineError(0, "the trace lasts no time", "a last line above 0", hint)
    return tuple(counts.items())


@lru_cache(maxsize=32)
def rates(text: str) -> tuple[tuple[int, int], ...]:
    """A CSV file of time and rate: ns, the first 0, rising, and bits per second from then on."""
    hint = "a line of time_s,rate_Mbps and below it 0,10 and 2.5,20, say"
    found = _course(text, "rate", _RATES, "bit/s", hint)
    if not any(rate for _, rate in found):
        raise LineError(0, "the rate is always 0", "a rate above 0 at some time", hint)
    return found


@lru_cache(maxsize=32)
def delay_course(text: str) -> tuple[tuple[int, int], ...]:
    """A CSV file of time and delay: ns, the first 0, rising, and the delay from then on in ns."""
    hint = "a line of time_s,delay_ms and below it 0,20.5 and 15,31.2, say"
    return _course(text, "delay", Time.grammar.units, "s", hint)


def _course(text: str, of: str, units: Mapping[str, int], unit: str, hint: str) -> tuple[tuple[int, int], ...]:
    """A CSV file of time and the value from then on, each in its smallest unit."""
    table = _columns(text, {"time": Time.grammar.units, of: units}, {"time": "s", of: unit}, hint)
    for (line, row), before in zip(table[1:], table, strict=False):
        if row[0] <= before[1][0]:
            raise LineError(line, "not after the time of the line before", "times that rise", hint)
    if table[0][1][0] != 0:
        raise LineError(table[0][0], "the first time is not 0", f"what the {of} is from the start of the run", hint)
    return tuple((time, value) for _, (time, value) in table)


@lru_cache(maxsize=32)
def delays(text: str) -> tuple[int, ...]:
    """A CSV file of one column, delays as they were measured: in ns, sorted."""
    hint = "a line with delay_ms and below it 1.5, 0.2 and 3, say"
    table = _columns(text, {"delay": Time.grammar.units}, {"delay": "s"}, hint)
    if len(table) < 2:
        raise LineError(0, "a single delay", "at least two", hint)
    return tuple(sorted(row[0] for _, row in table))


_SHARE: Final = 10**12
"""The smallest unit of a share."""

MOST_POINTS: Final = 10_000
"""Points of a distribution in a plan."""


@lru_cache(maxsize=32)
def sizes(text: str) -> tuple[tuple[int, float], ...]:
    """A CSV file of a cumulative distribution: bytes, and the share of sizes that are no larger, from 0 to 1."""
    hint = "a line of bytes,share and below it 0,0 and 1000,0.5 and 20000,1, say"
    table = _columns(text, {"bytes": {"B": 1}, "share": {"": _SHARE}}, {"bytes": "B", "share": ""}, hint)
    for (line, row), (_, before) in zip(table[1:], table, strict=False):
        if row[0] < before[0] or row[1] < before[1]:
            raise LineError(line, "less than on the line before", "bytes and shares that rise", hint)
    for (line, (_, share)), end in ((table[0], 0), (table[-1], 1)):
        if share != end * _SHARE:
            place = "last" if end else "first"
            raise LineError(line, f"the {place} share is {share / _SHARE:g}", f"a {place} share of {end}", hint)
    if table[-1][1][0] == 0 or len(table) > MOST_POINTS:
        wrong = "all sizes are 0" if table[-1][1][0] == 0 else f"{len(table)} lines"
        raise LineError(0, wrong, f"sizes above 0 on at most {MOST_POINTS} lines", hint)
    return tuple((size, share / _SHARE) for _, (size, share) in table)


@lru_cache(maxsize=32)
def indices(text: str) -> tuple[int, ...]:
    """The lost packets, one index per line, counted from 0 and rising."""
    expected, hint = "the index of a lost packet per line, from 0, rising", "three lines with 3, 17 and 18, say"
    found: list[int] = []
    for number, line in _lines(text):
        if not re.fullmatch(r"[0-9]{1,18}", line):
            raise LineError(number, f"{line[:20]!r} is not an index", expected, hint)
        if found and int(line) <= found[-1]:
            raise LineError(number, f"{line} after {found[-1]}: not rising", expected, hint)
        found.append(int(line))
        _check_length(number, len(found), "lost packets")
    if not found:
        raise LineError(0, "no packet is lost", expected, hint)
    return tuple(found)


_RATES: Mapping[str, int] = {
    **Rate.grammar.units,
    **{a: Rate.grammar.units[u] for a, u in Rate.grammar.aliases.items()},
}


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without empty ones and comments."""
    # A list of all lines would be several times as large as the text.
    for number, match in enumerate(re.finditer(r"[^\n]*(?:\n|\Z)", text), 1):
        line = match[0]
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def _check_length(number: int, length: int, of: str) -> None:
    if length > MOST_LINES:
        raise LineError(number, "too long", f"at most {MOST_LINES:,} {of}", "use a part of it")


def _columns(
    text: str, names: Mapping[str, Mapping[str, int]], units: Mapping[str, str], hint: str
) -> list[tuple[int, list[int]]]:
    """Rows with their line numbers: each column in its smallest unit, rounded.

    The first line may name the columns and their units (`time_ms,rate_Mbps`); else they are `units`.
    """
    scales = [names[name][units[name]] for name in names]
    rows: list[tuple[int, list[int]]] = []
    header = True
    for number, line in _lines(text):
        cells = [cell.strip().strip('"') for cell in line.split(",")]
        if len(cells) != len(names):
            what = f"{len(cells)} columns" if len(cells) != 1 else "1 column"
            raise LineError(number, what, f"{len(names)}: {', '.join(names)}", hint)
        if header and cells[0][:1].isalpha():
            scales = [_unit(number, cell, name, names[name], hint) or scale
                      for cell, name, scale in zip(cells, names, scales, strict=True)]  # fmt: skip
            header = False
            continue
        header = False
        rows.append((number, [_number(number, cell, s, hint) for cell, s in zip(cells, scales, strict=True)]))
        _check_length(number, len(rows), "rows")
    if not rows:
        raise LineError(0, "empty", f"lines of {', '.join(names)}", hint)
    return rows


def _unit(line: int, cell: str, name: str, known: Mapping[str, int], hint: str) -> int | None:
    """The unit in a header's cell: `time_ms`, `Time (ms)`; none without a unit."""
    match = re.fullmatch(rf"(?i:{name}s?)(?:[_ ]?[(\[]?([A-Za-z/]+)[)\]]?)?", cell)
    if match is None:
        raise LineError(line, f"{cell[:20]!r} is not a column", f"{name} with its unit", hint)
    if match[1] and match[1] not in known:
        raise LineError(line, f"unknown unit {match[1]}", f"one of {', '.join(known)}", hint)
    return known[match[1]] if match[1] else None


def _number(line: int, cell: str, scale: int, hint: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?", cell):
        raise LineError(line, f"{cell[:20]!r} is not a number", "a number that is not negative", hint)
    value = round(Fraction(cell) * scale)
    if value > MAX:
        raise LineError(line, f"{cell[:20]} is too large", f"at most {MAX} of the smallest unit", hint)
    return value
