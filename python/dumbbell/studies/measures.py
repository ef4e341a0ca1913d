"""What repetitions and expectations are about: a metric of each run, and bounds in its unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dumbbell.scenario.quantities import Percent, Quantity, QuantityError, Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.statistics.frames import Frames
    from dumbbell.statistics.metrics.model import Metric

LINK: Final = "link"
SHARE: Final = "share"
"""The unit of what is from 0 to 1, and written in percent as well."""
RUN: Final = "run"
_KINDS: Final[Mapping[str, tuple[type[Quantity], float]]] = {
    "bit/s": (Rate, 1.0),
    "ms": (Time, 1e-6),
    "s": (Time, 1e-9),
    "B": (Size, 1.0),
}
"""Unit -> what a text with a unit is read as, and what its smallest unit is in that one."""
_SHOWN: Final = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))


def by_run(study: Frames, name: str, of: str | None = None) -> pl.DataFrame:
    """`cell`, `run`, `value` of each run that can be used and has a value.

    `of`: a flow, a group of flows, an algorithm, or a link. Default: all flows together; the link that the study is
    about.
    """
    from dumbbell.statistics.frames import main_link
    from dumbbell.statistics.metrics import get, values

    metric = get(name)
    if LINK in metric.scopes:
        rows = values(study, metric, LINK)
        return rows.filter(of=of or main_link(study)).select("cell", "run", "value")
    if of is None:
        return values(study, metric, RUN).select("cell", "run", "value")
    # The first that has such a thing; a flow may be called as an algorithm is.
    for scope in ("flow", "group", "algorithm"):
        if scope in metric.scopes:
            found = values(study, metric, scope).filter(of=of)
            if found.height:
                break
    return found.select("cell", "run", "value")


def needs_of(metric: Metric) -> bool:
    """Whether it has no value of all flows together."""
    return not {RUN, LINK} & {*metric.scopes}


def read(metric: Metric, bound: int | float | str | None) -> float | None:
    """A bound in the metric's unit, from a number or a text with its unit. Raises `ValueError`."""
    if not isinstance(bound, str):
        return None if bound is None else float(bound)
    kind, scale = _KINDS.get(metric.unit, (None, 1.0))
    try:
        if kind is not None:
            return int(kind.parse(bound)) * scale
        return Percent.parse(bound).probability if metric.unit in ("", SHARE) else float(bound)
    except QuantityError as error:
        raise ValueError(f"{bound!r}: {error.wrong}") from None
    except ValueError:
        raise ValueError(f"{bound!r}: no number") from None


def show(metric: Metric, value: float) -> str:
    """A value with its unit: `17.5 Mbit/s`."""
    large: Any = ((size, unit) for size, unit in _SHOWN if metric.unit == "bit/s" and abs(value) >= size)
    size, unit = next(large, (1.0, "" if metric.unit == SHARE else metric.unit))
    text = f"{value / size:.4g}" if abs(value) < 1e4 * size else f"{value / size:,.0f}"
    return f"{text} {unit}".rstrip()
