"""Columns of the table of runs: what differs among the runs, which of it is shown, and how its values are ordered."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from dumbbell.agree.figures import JAIN, TOTAL_GOODPUT, What
from dumbbell.server.run_messages import RunColumn
from dumbbell.server.run_rows import Row, key_of
from dumbbell.units import Percent, Rate, Size, Time

MOST: Final = 400
"""Columns that a page is offered, at most; networks of many nodes have thousands of settings."""
SHOWN_SETTINGS: Final = 6
SHOWN_FLOWS: Final = 3
"""Flows whose goodput is shown unasked."""
_VERSIONS: Final = ("dumbbell", "core", "kernel")
_UNTOLD: Final = ("name", *_VERSIONS)
"""Settings that tell nobody what a run is about."""


def differing(rows: Iterable[Row]) -> tuple[list[str], Counter[str]]:
    """Settings whose values differ, in the order of their first appearance; and how many runs have each setting."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    different: set[str] = set()
    runs = 0
    seen: set[int] = set()
    for row in rows:
        runs += 1
        settings = row.settings
        counts.update(settings.keys())
        if id(settings) not in seen:
            seen.add(id(settings))
            for key, value in settings.items():
                if first.setdefault(key, value) != value:
                    different.add(key)
    return [key for key in first if key in different or counts[key] < runs], counts


def told_by(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Settings that differ among runs of each name."""
    named: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        named[row.name].append(row)
    return {
        name: tuple(key for key in differing(each)[0] if key not in _UNTOLD) if len(each) > 1 else ()
        for name, each in named.items()
    }


def columns(rows: Sequence[Row]) -> tuple[list[RunColumn], list[str]]:
    """All columns of `rows`, and the keys of those that are shown unasked."""
    different, counts = differing(rows)
    figures: Counter[What] = Counter()
    for row in rows:
        figures.update(row.figures.keys())
    set_apart = set(different)
    ordered = [*different, *(key for key in counts if key not in set_apart)][:MOST]
    titles = _titles(ordered)
    found = [
        RunColumn(key=key, title=titles[key], unit="", kind="setting", differs=key in set_apart, runs=counts[key])
        for key in ordered
    ]
    whats = sorted(figures, key=lambda what: _SCOPES.index(what.scope))[:MOST]
    found += [
        RunColumn(
            key=key_of(what),
            title=f"{what.of} {what.measure}".strip(),
            unit=what.unit,
            kind="figure",
            differs=True,
            runs=figures[what],
        )
        for what in whats
    ]
    return found, [*_settings(rows, different, counts), *map(key_of, _figures(whats, figures))]


_SCOPES: Final = ("run", "flow", "link")


def _settings(rows: Sequence[Row], different: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    """Returns settings that are shown unasked: those that commands changed, then those that most runs have."""
    changed = Counter(key for row in rows for key in row.overridden)
    offered = [key for key in different if key not in _UNTOLD]
    best = sorted(offered, key=lambda key: (-changed[key], -counts[key]))[:SHOWN_SETTINGS]
    return [key for key in offered if key in best]


def _figures(whats: Sequence[What], counts: Mapping[What, int]) -> list[What]:
    """Total goodput and fairness, the goodput of the commonest flows, and the queue of the commonest link."""
    run = [what for what in whats if what.scope == "run" and what.measure in (TOTAL_GOODPUT, JAIN)]
    goodputs = [what for what in whats if what.scope == "flow" and what.measure == "goodput"]
    best = sorted(goodputs, key=lambda what: -counts[what])[:SHOWN_FLOWS] if len(goodputs) > 1 else []
    queues = [what for what in whats if what.scope == "link" and what.measure == "queue p95"]
    return [*run, *(what for what in goodputs if what in best), *sorted(queues, key=lambda what: -counts[what])[:1]]


def _titles(keys: Sequence[str]) -> dict[str, str]:
    """The shortest end of each key that no other one has."""
    ends: Counter[str] = Counter()
    for key in keys:
        parts = key.split(".")
        ends.update(".".join(parts[at:]) for at in range(len(parts)))
    found = {}
    for key in keys:
        parts = key.split(".")
        known = [".".join(parts[at:]) for at in range(len(parts) - 1, -1, -1) if not parts[at].isdecimal()]
        found[key] = next((end for end in known if ends[end] == 1), key)
    return found


Place = tuple[int, str, float, str]
"""Place of a value in its order."""


@lru_cache(maxsize=1 << 16)
def place(value: str | float) -> Place:
    """Numbers before words, quantities of one kind by their size: 900 kbit/s stands before 1 Mbit/s."""
    if isinstance(value, float):
        return 0, "", value, ""
    match = _QUANTITY.fullmatch(value)
    if match is None:
        return 1, "", 0.0, value.lower()
    kind, factor = _UNITS.get(match["unit"], (match["unit"], 1.0))
    return 0, kind, float(match["number"]) * factor, value


_QUANTITY: Final = re.compile(r"(?P<number>[+-]?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,2})?)\s*(?P<unit>\S{0,12})")
_UNITS: Final = {
    unit: (kind.grammar.what, float(kind.grammar.units[known]))
    for kind in (Time, Rate, Size, Percent)
    for unit, known in [*((one, one) for one in kind.grammar.units), *kind.grammar.aliases.items()]
}
