"""JSON of strangers: objects and numbers, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite, nan
from typing import Any

from dumbbell.errors import InputError


def parsed(text: str, name: str) -> Any:
    """Returns the JSON document of a text. Raises `InputError` if it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}: {error.msg[:1].lower()}{error.msg[1:]}"
        raise InputError(f"{name} cannot be read as JSON", why, "was it written to its end?") from None
    except (RecursionError, ValueError):
        raise InputError(
            f"{name} cannot be read as JSON", "it is nested too deeply, or has too long a number"
        ) from None


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
