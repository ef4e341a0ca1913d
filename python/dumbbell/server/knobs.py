"""The values of a scenario that "What if" can turn by a slider: those in the file, and a few of its defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.cc.bundled import SIMULATED
from dumbbell.scenario.source import dotted
from dumbbell.scenario.traffic.flows import kind_of
from dumbbell.server.messages import Key
from dumbbell.server.whatif_messages import Knob

_QUANTITY: Final = re.compile(r"\s*+\+?\s*+(\d++(?:\.\d++)?)\s*+([^\s\d]\S*+)\s*+")
_LEFT_OUT: Final = frozenset(
    (
        *("name", "description", "vary", "repeat", "expect", "report", "hunt", "groups", "record", "emulate"),
        *("simulate", "routing"),
    )
)
"""Keys at the top level without sliders: they change no simulated curve, or belong to a study or a hunt."""
_PLAIN: Final = frozenset(("port", "mtu", "ip", "asn", "id", "cost", "priority", "vlan", "version"))
"""Numbers that are names, or that have few values."""
_RATE: Final = frozenset(("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "bps", "kbps", "Mbps", "Gbps", "b/s", "kb/s", "Mb/s"))
_ORIGIN: Final = frozenset(("start", "stop", "at"))
"""Times since the run's origin: their sliders go from 0 to its end."""
_LINK_KEYS: Final = frozenset(("rate", "delay", "buffer", "loss", "queue"))
_TITLES: Final = {"cc": "Congestion control", "rtt": "Base RTT", "ecn": "ECN"}
MOST: Final = 400
"""Sliders of a scenario at most; further values of a large scenario can still be set by `--set`."""


def knobs(data: Mapping[str, Any], duration_s: float) -> list[Knob]:
    """Returns the keys that can be turned in a scenario with these values: written ones first, then others."""
    written = list(_written(data, (), duration_s, data))
    known = {one.path for one in written}
    # A scenario that writes the table `flows.0.cc` is not offered `flows.0.cc` as a word.
    known |= {path[:at] for path in known for at, letter in enumerate(path) if letter == "."}
    offered = [one for one in _offered(data, duration_s) if one.path not in known]
    return [*written, *offered][:MOST]


def _written(held: Any, key: tuple[str | int, ...], duration_s: float, data: Mapping[str, Any]) -> Iterator[Knob]:
    if isinstance(held, dict | list):
        items = held.items() if isinstance(held, dict) else enumerate(held)
        for part, inner in items:
            if key or part not in _LEFT_OUT:
                yield from _written(inner, (*key, part), duration_s, data)
        return
    found = _knob(held, key, duration_s, data)
    if found is not None:
        yield found


def _knob(
    held: Any, key: tuple[str | int, ...], duration_s: float, data: Mapping[str, Any], written: bool = True
) -> Knob | None:
    """The knob of a value; `None` if it is none that a slider can turn."""
    named: dict[str, Any] = {
        "key": list(key),
        "path": dotted(key),
        "title": _title(key),
        "group": _group(key, data),
        "written": written,
    }
    name = next((part for part in reversed(key) if isinstance(part, str)), "")
    if isinstance(held, bool) or name in _PLAIN or "sysctl" in key:
        return None
    if isinstance(held, str) and (name == "cc" or key[-2:] == ("cc", "name")):
        words = [*SIMULATED] if held in SIMULATED else [held, *SIMULATED]
        return Knob(**named, value=words.index(held), words=words)
    if isinstance(held, int):
        most = max(50, 2 * held) if name == "seed" else max(8, 4 * held)
        return Knob(**named, value=held, low=min(1, held), high=most, whole=True)
    if isinstance(held, float):
        return Knob(**named, value=held, low=0, high=max(1.0, 4 * held))
    match = _QUANTITY.fullmatch(held) if isinstance(held, str) else None
    if match is None:
        return None
    value, unit = float(match[1]), match[2]
    low, high, log = _span(name, value, unit, duration_s)
    return Knob(**named, value=value, unit=unit, low=low, high=high, log=log)


def _span(name: str, value: float, unit: str, duration_s: float) -> tuple[float, float, bool]:
    """Returns the least and the largest value of a slider, and whether its scale is logarithmic."""
    if unit in ("%", "percent"):
        return 0, min(100.0, max(5.0, 4 * value)), False
    if name in _ORIGIN:
        seconds = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "min": 60, "h": 3600}.get(unit, 1)
        return 0, max(value, duration_s / seconds), False
    if name == "duration":
        return min(1, value), 3 * value, False
    if value == 0:
        return 0, {"s": 1, "ms": 100, "us": 1000}.get(unit, 100), False
    if unit in _RATE:
        return value / 20, value * 5, True  # The time that a simulation takes grows with the rate.
    return value / (20 if unit == "bdp" else 10), value * 10, True


def _offered(data: Mapping[str, Any], duration_s: float) -> Iterator[Knob]:
    """Values that the scenario leaves at their defaults, where these are numbers."""
    found = [_knob("0 %", (*key, "loss"), duration_s, data, False) for key in _links(data)]
    flows = data.get("flows")
    for i, flow in enumerate(flows if isinstance(flows, list) else ()):
        if isinstance(flow, dict) and "arrivals" not in flow and not kind_of(flow).runs_programs:
            found.append(_knob("0 s", ("flows", i, "start"), duration_s, data, False))
            if (cc := kind_of(flow).default_cc()) is not None:
                found.append(_knob(cc, ("flows", i, "cc"), duration_s, data, False))
    found.append(_knob(1, ("seed",), duration_s, data, False))
    yield from (one for one in found if one is not None)


def _links(data: Any, key: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yields the keys of the topology's tables that describe a link, such as `bottleneck`.

    A table with `model` describes a loss, not a link, though it may have `rate`.
    """
    held = data.get("topology") if not key else data
    if isinstance(held, dict):
        here = key or ("topology",)
        if key and held.keys() & _LINK_KEYS and "model" not in held:
            yield here
            return
        for part, inner in held.items():
            yield from _links(inner, (*here, part))
    elif isinstance(held, list):
        for i, inner in enumerate(held):
            yield from _links(inner, (*key, i))


def _title(key: Key | tuple[str | int, ...]) -> str:
    """`("topology", "bottleneck", "jitter", "sd")`: `Jitter: sd`."""
    words = [str(part) for part in key if isinstance(part, str)]
    own = words[-1]
    title = _TITLES.get(own, own.replace("_", " ").capitalize())
    if len(key) > 1 and key[-1] == "name" and key[-2] == "cc":
        return _TITLES["cc"]
    above = [word for word in words[:-1] if word not in ("topology", "flows", "links", "bottleneck", "events", "nodes")]
    return f"{above[-1].replace('_', ' ').capitalize()}: {own.replace('_', ' ')}" if above else title


def _group(key: tuple[str | int, ...], data: Mapping[str, Any]) -> str:
    """Returns the thing that a value belongs to, in words: `Flow f1`, `Link h1 - s1`, `Bottleneck`."""
    match key:
        case ("flows", int(i), *_):
            flow = data["flows"][i]
            return f"Flow {flow.get('id') or f'f{i + 1}'}"
        case ("topology", "links", int(i), *_):
            link = data["topology"]["links"][i]
            return f"Link {link.get('name') or ' - '.join(map(str, link.get('between', [i])))}"
        case ("topology", "bottleneck", *_):
            return "Bottleneck"
        case ("topology", str(part), _, *_):
            return part.replace("_", " ").capitalize()
        case ("topology", *_):
            return "Network"
        case ("events", int(i), *_):
            return f"Event {i + 1}"
        case (str(part), _, *_):
            return part.capitalize()
    return "Run"
