"""Quantities for readers: SI prefixes, few digits, a thin dash for what is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell import counts
from dumbbell.counts import listed as listed
from dumbbell.counts import number as number
from dumbbell.engines.registry import capabilities, names

UNKNOWN = "–"  # noqa: RUF001  a dash in a table cell, not a hyphen
_BITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def rate_unit(largest_bps: float) -> tuple[float, str]:
    """Bit/s per unit, and the unit's name, that suit values up to `largest_bps`."""
    return _unit(largest_bps, _BITS)


def size_unit(largest_bytes: float) -> tuple[float, str]:
    """Bytes per unit (1 kB = 1000 B), and the unit's name."""
    return _unit(largest_bytes, _BYTES)


def rate(bps: float | None) -> str:
    """`97.3 Mbit/s`, and `100 Mbit/s` of a rate that somebody has chosen."""
    return UNKNOWN if bps is None else _with_unit(bps, _BITS)


def measured_rate(bps: float | None) -> str:
    """`97.3 Mbit/s`, and `19.0 Mbit/s` beside it: three digits, whatever they are."""
    if bps is None:
        return UNKNOWN
    factor, name = _unit(bps, _BITS)
    scaled = bps / factor
    decimals = 0 if scaled >= 99.95 or not scaled else 1 if scaled >= 9.995 else 2
    return f"{scaled:.{decimals}f} {name}"


def size(n_bytes: float | None) -> str:
    """`375 kB`."""
    return UNKNOWN if n_bytes is None else _with_unit(n_bytes, _BYTES)


def milliseconds(ms: float | None) -> str:
    """`30.0`, for a column whose head names the unit: three digits, more only if the number is large."""
    if ms is None:
        return UNKNOWN
    return f"{ms:,.0f}" if ms >= 1000 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def seconds(s: float) -> str:
    """`20 s`, `1.5 s`, `5 ms`, `200 us`: exact to three digits."""
    if s >= 1 or s == 0:
        return f"{s:g} s"
    return f"{s * 1e3:.3g} ms" if s >= 1e-3 else f"{s * 1e6:.3g} µs"


def bottleneck(flow: Mapping[str, Any]) -> str:
    """`core (92 %)`: the bottleneck of a flow of the summary for the longest time, and the share of its time."""
    link = flow.get("bottleneck")
    return UNKNOWN if link is None else f"{link} ({100 * flow['bottleneck_share']:.0f} %)"


def share(value: float | None) -> str:
    """`97.3 %` of a value between 0 and 1; `0.017 %` of one that would vanish."""
    if value is None:
        return UNKNOWN
    return f"{100 * value:.2g} %" if 0 < value < 0.001 else f"{100 * value:.1f} %"


def count(n: int | None, noun: str = "") -> str:
    """`164,312 packets`; a plural by -s."""
    if n is None:
        return UNKNOWN
    return counts.count(n, noun)


def value(setting: Any) -> str:
    """The value of a key as a study file has it; of a list, `30 ms and 300 ms`."""
    return listed(map(str, setting)) if isinstance(setting, list | tuple) else str(setting)


def speed(cost: Mapping[str, Any] | None) -> str:
    """`20 s in 0.31 s, 65 times as fast as real time`, of a simulated run's cost; empty if it is unknown."""
    if not cost or not all(cost.get(key) for key in ("times_real_time", "simulated_s", "wall_s")):
        return ""
    times = cost["times_real_time"]
    took = f"{seconds(round(cost['simulated_s'], 3))} in {cost['wall_s']:.2g} s"
    return f"{took}, {f'{times:,.0f}' if times >= 100 else f'{times:.2g}'} times as fast as real time"


def timing(engine: str) -> str:
    """`simulated` or `in virtual time`; empty for an engine in real time, and for one that is not installed."""
    if engine not in names() or capabilities(engine).real_time:
        return ""
    return "simulated" if capabilities(engine).models_tcp else "in virtual time"


def _unit(largest: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next(((factor, name) for factor, name in units if largest >= factor), units[-1])


def _with_unit(value: float, units: tuple[tuple[float, str], ...]) -> str:
    factor, name = _unit(value, units)
    scaled = value / factor
    text = f"{scaled:.0f}" if scaled >= 100 or scaled == int(scaled) else f"{scaled:.3g}"
    return f"{text} {name}"
