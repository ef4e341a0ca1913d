"""JSON of strangers: objects and numbers, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan
from typing import Any, Final

from pydantic_core import from_json

from dumbbell.errors import InputError

LARGEST: Final = 64 << 20
"""Characters of a document: as objects of Python it takes some ten times as much memory, or 27 times at worst."""
LONGEST: Final = 1 << 20
"""Characters of one of many records."""


def parsed(text: str, name: str) -> Any:
    """Returns the JSON document of a text. Raises `InputError` if it is none."""
    if len(text) > LARGEST:
        why = f"it has more than {LARGEST >> 20} MiB, and JSON is read at once"
        raise InputError(f"{name} is too large", why, "take a shorter log, or qlog as JSON-SEQ")
    try:
        return from_json(text)
    except ValueError as error:
        raise InputError(f"{name} cannot be read as JSON", str(error), "was it written to its end?") from None


def record(text: str) -> Mapping[str, Any]:
    """Returns the object that a text is, or an empty one, also in place of one of more than `LONGEST` characters."""
    if len(text) > LONGEST:
        return {}
    try:
        return table(from_json(text))
    except ValueError:
        return {}


def table(value: object) -> Mapping[str, Any]:
    """Returns an object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Mapping[str, Any]]:
    """Returns the objects of a list, or none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def number(value: object) -> float:
    """Returns a finite number that is not negative, also one that is written as a text; NaN in place of anything else.

    JSON of JavaScript has large integers as texts.
    """
    if isinstance(value, str) and len(value) < 32:
        try:
            value = float(value)
        except ValueError:
            return nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return nan
    try:
        plain = float(value)
    except OverflowError:
        return nan
    return plain if isfinite(plain) and 0 <= plain < 1e18 else nan


def word(value: object) -> str:
    """Returns a printable text of one line, or an empty one."""
    return value if isinstance(value, str) and value.isprintable() else ""
