"""The plots as JSON for the page.

Objects have their fields' names in camel case. Each series is stored once, separately, as base64 of a little-endian
array; `{"series": index}` takes its place. Times are unsigned integers, 32 bits each, that count `tick` seconds: enough
to tell any two ACKs apart, at half the length of a double.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import numpy as np
import polars as pl

from dumbbell.report.model import Plots

_TICKS: Final = 2**32 - 1
_KINDS: Final = ("times", "values", "codes", "counts")


def payload(plots: Plots) -> str:
    """The plots of a run, as JSON without `<`, which can be put inside a script element."""
    # Twice the duration: the last ACKs of a run come after its end.
    return encode(plots, tick=2 * plots.duration_s / _TICKS)


def encode(content: Any, tick: float = 0.0) -> str:
    """JSON of a dataclass and what is in it; `tick`: seconds, if it has times."""
    packer = _Packer(tick)
    plain = packer.plain(content, None)
    told = {"tick": tick, "series": packer.series, "content": plain}
    return json.dumps(told, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def camel(name: str) -> str:
    """`is_level` -> `isLevel`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class _Packer:
    """Gathers series, each once."""

    def __init__(self, tick: float) -> None:
        self._tick = tick
        self.series: list[tuple[str, str]] = []
        """Kind and base64."""
        self._places: dict[tuple[int, str], int] = {}
        self._alive: list[pl.Series] = []
        """The list keeps them alive, because no two live objects have one `id`."""

    def plain(self, value: Any, kind: str | None) -> Any:
        """`value` as JSON has it; `kind`: of the series that it may be."""
        if isinstance(value, pl.Series):
            if kind is None:
                raise TypeError("a series without a kind: annotate its field with Times, Values, Codes or Counts")
            return {"series": self._place(value, kind)}
        if is_dataclass(value) and not isinstance(value, type):
            return {name: self.plain(getattr(value, field), of) for field, name, of in _fields(type(value))}
        if isinstance(value, dict):
            return {key: self.plain(one, kind) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(one, kind) for one in value]
        return value

    def _place(self, series: pl.Series, kind: str) -> int:
        place = self._places.setdefault((id(series), kind), len(self.series))
        if place == len(self.series):
            self._alive.append(series)
            self.series.append((kind, self._packed(series, kind)))
        return place

    def _packed(self, series: pl.Series, kind: str) -> str:
        match kind:
            case "times":
                ticks = np.clip(np.round(series.to_numpy() / self._tick), 0, _TICKS)
                packed = ticks.astype("<u4")
            case "codes":
                packed = series.fill_null(255).cast(pl.UInt8).to_numpy()
            case "counts":
                packed = series.to_numpy().astype("<u4")
            case _:
                # Null becomes NaN.
                packed = series.cast(pl.Float64).to_numpy().astype("<f4")
        return b64encode(packed.tobytes()).decode("ascii")


@cache
def _fields(type_: type) -> tuple[tuple[str, str, str | None], ...]:
    """Name, name on the page, and kind of series, of each field of a dataclass."""
    hints = get_type_hints(type_, include_extras=True)
    return tuple((field.name, camel(field.name), _kind(hints[field.name])) for field in fields(type_))


def _kind(hint: Any) -> str | None:
    """The kind of series that a type holds."""
    found = [note for note in getattr(hint, "__metadata__", ()) if note in _KINDS]
    found += [kind for part in get_args(hint) if (kind := _kind(part))]
    return found[0] if found else None
