"""What a sweep varies: cells, each with a value for every varied key."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dumbbell.errors import InputError
from dumbbell.scenario.overrides import value_of

Cell = Mapping[str, Any]
"""Varied key -> value."""
Vary = Mapping[str, Sequence[Any]] | Sequence[Cell]
"""A list of values for each key, all combinations of which are cells; or the cells themselves."""

_EXAMPLE = 'write --vary topology.bottleneck.buffer="0.5 bdp,1 bdp"'


def cells(vary: Vary) -> list[Cell]:
    """The cells, the last key's values changing fastest. Raises `InputError`."""
    if isinstance(vary, Mapping):
        for key, values in vary.items():
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise InputError(f"vary {key}: {values!r} is no list", "expected a list of values")
            if not values:
                raise InputError(f"vary {key}: no values", "expected at least one")
        found: list[Cell] = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    else:
        found = [dict(cell) for cell in vary]
    if not found:
        raise InputError("vary: no cells", "expected at least one")
    keys = found[0].keys()
    for cell in found:
        if cell.keys() != keys:
            why = f"one has {', '.join(keys) or 'none'}, another {', '.join(cell) or 'none'}"
            raise InputError("vary: cells with different keys", why, "give each cell a value for each key")
    if "seed" in keys:
        hint = "repeat a cell with other seeds: --repeat 10, or seeds=[...] in Python"
        raise InputError("vary seed: a seed makes a repetition, not a cell", hint=hint)
    return found


def parse(texts: Iterable[str]) -> dict[str, list[Any]]:
    """From `["flows.0.cc=cubic,bbr", ...]`. Raises `InputError`."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not key.strip() or not values.strip():
            raise InputError(f"--vary {text}: no values", "expected key=value,value,...", _EXAMPLE)
        if key in found:
            hint = f"write all its values after one --vary {key}="
            raise InputError(f"--vary {text}: {key} is varied twice", hint=hint)
        found[key] = _values(values)
    return found


def _values(text: str) -> list[Any]:
    """A TOML array without its brackets, or else texts between commas."""
    try:
        parsed = tomllib.loads(f"values = [{text}]")
    except tomllib.TOMLDecodeError:
        return [value_of(part.strip()) for part in text.split(",")]
    return list(parsed["values"])
