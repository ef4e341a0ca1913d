"""The values that repetitions and expectations use: a metric of each run, and bounds in its unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dumbbell.plan.network import network
from dumbbell.plan.parts import cc, group
from dumbbell.plan.types import Plan
from dumbbell.units import Percent, Quantity, QuantityError, Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.statistics.frames import Frames
    from dumbbell.statistics.metrics.model import Metric

LINK: Final = "link"
SHARE: Final = "share"
"""The unit of values from 0 to 1 that may be written in percent."""
RUN: Final = "run"
_KINDS: Final[Mapping[str, tuple[type[Quantity], float]]] = {
    "bit/s": (Rate, 1.0),
    "ms": (Time, 1e-6),
    "s": (Time, 1e-9),
    "B": (Size, 1.0),
}
"""Unit -> the quantity that a text with a unit is read as, and its smallest unit in this unit."""
_UP_TO_1: Final = (SHARE, "")
"""Units of values from 0 to 1: shares, and indices such as Jain's."""
_BELOW_0: Final = ("harm_goodput", "harm_rtt")
"""Shares that are negative where an algorithm gains."""
_OF_FLOWS: Final = ("flow", "group", "algorithm")
_SHOWN: Final = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))


def by_run(study: Frames, name: str, of: str | None = None) -> pl.DataFrame:
    """`cell`, `run`, `value` of each usable run that has a value.

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
    # The first scope that knows the name; a flow may have the name of an algorithm.
    for scope in _OF_FLOWS:
        if scope in metric.scopes:
            found = values(study, metric, scope).filter(of=of)
            if found.height:
                break
    return found.select("cell", "run", "value")


def needs_of(metric: Metric) -> bool:
    """True if the metric has no value for all flows together."""
    return not {RUN, LINK} & {*metric.scopes}


def kinds(metric: Metric) -> Sequence[str]:
    """The kinds that `of` may name: a link, or a flow, a group of flows or an algorithm."""
    return (LINK,) if LINK in metric.scopes else [scope for scope in _OF_FLOWS if scope in metric.scopes]


def names(metric: Metric, plan: Plan) -> list[str]:
    """All names that `of` may have in a run with this plan: algorithms first, then groups, then flows."""
    if LINK in metric.scopes:
        plain = network(plan).transparent
        return [link.name for link in plan.links if link.name not in plain]
    flows = plan.flows
    found = {
        "algorithm": [cc(flow) or flow.workload.kind for flow in flows],
        "group": [group(flow) for flow in flows],
        "flow": [flow.id for flow in flows],
    }
    return list(dict.fromkeys(name for kind in reversed(kinds(metric)) for name in found[kind]))


def read(metric: Metric, bound: int | float | str | None) -> float | None:
    """A bound in the metric's unit, from a number or a text with its unit. Raises `QuantityError`."""
    if bound is None:
        return None
    if metric.unit in _UP_TO_1:
        return _share(metric, bound)
    if not isinstance(bound, str):
        return float(bound)
    try:
        if metric.unit not in _KINDS:
            return float(bound)
        kind, scale = _KINDS[metric.unit]
        return int(kind.parse(bound)) * scale
    except QuantityError as error:
        raise QuantityError(error.wrong, f"a number of {metric.unit}, or {error.expected}", error.hint) from None
    except ValueError:
        raise QuantityError("no number", f"a number of {metric.unit}", "") from None


def _share(metric: Metric, bound: int | float | str) -> float:
    """A bound from 0 to 1. A larger number is most likely meant in percent."""
    expected = 'a number from 0 to 1, or a text in percent, such as "90 %"'
    if isinstance(bound, str):
        try:
            return Percent.parse(bound).probability
        except QuantityError as error:
            raise QuantityError(error.wrong, expected, _of_number(bound) or error.hint) from None
    if bound > 1:
        raise QuantityError("more than 1", expected, f'write "{bound:g} %"' if bound <= 100 else "")
    if bound < 0 and metric.name not in _BELOW_0:
        raise QuantityError("less than 0", expected, "")
    return float(bound)


def _of_number(text: str) -> str:
    """A hint for a text that is a share and should be a number."""
    try:
        number = float(text)
    except ValueError:
        return ""
    return f'write {number:g}, or "{100 * number:g} %"' if 0 <= number <= 1 else ""


def written(metric: Metric, bound: int | float | str) -> str:
    """A bound for a reader: shares in percent, as `show` prints them."""
    return f"{100 * bound:.10g} %" if metric.unit == SHARE and not isinstance(bound, str) else str(bound)


def show(metric: Metric, value: float) -> str:
    """A value with its unit: `17.50 Mbit/s`, `97.71 %`; four digits, but whole numbers as they are."""
    if metric.unit == SHARE:
        return f"{_four_digits(100 * value)} %"
    large: Any = ((size, unit) for size, unit in _SHOWN if metric.unit == "bit/s" and abs(value) >= size)
    size, unit = next(large, (1.0, metric.unit))
    text = _four_digits(value / size) if abs(value) < 1e4 * size else f"{value / size:,.0f}"
    return f"{text} {unit}".rstrip()


def _four_digits(value: float) -> str:
    return f"{value:.4g}" if value == int(value) else f"{value:#.4g}".rstrip(".")
