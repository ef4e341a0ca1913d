"""Compares two studies: metrics of the cells that both have, and their differences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from dumbbell.cc.names import label
from dumbbell.comparison.parts import prints
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.statistics.contrasts import Contrast, Samples, contrast
from dumbbell.statistics.frames import Frames, limited_links
from dumbbell.statistics.metrics import METRICS, Metric, values
from dumbbell.statistics.verdicts import Verdicts, suspect_runs, verdicts

DEFAULT = ("goodput", "goodput_share", "jain_index", "utilisation", "rtt_p50", "queue_p95", "retransmitted_segments")
"""The metrics that are compared if nobody chooses any."""

Place = tuple[str, ...]
"""A value for each key that both studies vary."""


@dataclass(frozen=True)
class Row:
    """One metric of one cell."""

    metric: Metric
    place: Place
    of: str
    n_a: int
    n_b: int
    suspect_a: int
    """Suspect runs of the cell."""
    suspect_b: int
    contrast: Contrast
    """B against A."""


@dataclass(frozen=True)
class Comparison:
    """The rows that can be compared, and what only one study has."""

    keys: tuple[str, ...]
    """Keys that both studies vary."""
    rows: tuple[Row, ...]
    only_a: tuple[Place, ...]
    """Cells that the other study lacks."""
    only_b: tuple[Place, ...]
    of_only_a: tuple[str, ...]
    """Algorithms, or other subjects of a metric, that the other study's cells lack."""
    of_only_b: tuple[str, ...]
    verdicts_a: Verdicts
    """The verdicts of the runs of all cells of A."""
    verdicts_b: Verdicts
    equal: tuple[Place, ...]
    """Cells of both in which each figure of each run is the same."""
    cells: int
    """Number of cells that both have."""

    @property
    def differing(self) -> tuple[Row, ...]:
        """The rows whose means differ."""
        return tuple(row for row in self.rows if row.contrast.difference.value != 0)


def compare(a: Frames, b: Frames, metrics: Sequence[str], confidence: float, are_parts: bool = False) -> Comparison:
    """Compare cells with the same values of the keys that both vary.

    A QUIC stack is compared with another build of it. So is the one algorithm that only A has with the one that only B
    has, if both are of QUIC stacks, or A and B are parts of a study.

    Raises:
        InputError: there is no such metric; or a study has several cells with the same values of these keys; or the
        studies share no cell.
    """
    keys = tuple(key for key in a.keys if key in b.keys)
    cells_a, cells_b = _cells(a, keys, b), _cells(b, keys, a)
    both = [place for place in cells_a if place in cells_b]
    if not both:
        raise InputError(
            "no cell to compare", f"no values of {', '.join(keys)} are in both studies", "compare studies that overlap"
        )
    rows: list[Row] = []
    of_a: dict[str, None] = {}
    of_b: dict[str, None] = {}
    doubted_a, doubted_b = suspect_runs(a), suspect_runs(b)
    for metric in (METRICS[name] for name in metrics):
        found_a, found_b = (_samples(study, metric) for study in (a, b))
        for place in both:
            here, there = found_a.get(cells_a[place], {}), found_b.get(cells_b[place], {})
            here, there = _paired(here, there, are_parts)
            of_a |= dict.fromkeys(of for of in here if of not in there)
            of_b |= dict.fromkeys(of for of in there if of not in here)
            for of, x in here.items():
                if of in there:
                    y = there[of]
                    doubted = doubted_a.get(cells_a[place], 0), doubted_b.get(cells_b[place], 0)
                    rows.append(Row(metric, place, of, len(x), len(y), *doubted, contrast(x, y, confidence)))
    only_a, only_b = (tuple(p for p in x if p not in y) for x, y in ((cells_a, cells_b), (cells_b, cells_a)))
    judged = verdicts(a.runs), verdicts(b.runs)
    prints_a, prints_b = prints(a), prints(b)
    alike = (place for place in both if prints_a.get(cells_a[place], 0) == prints_b.get(cells_b[place], 1))
    return Comparison(keys, tuple(rows), only_a, only_b, tuple(of_a), tuple(of_b), *judged, tuple(alike), len(both))


_Subjects = Mapping[str, Samples]


def _paired(a: _Subjects, b: _Subjects, are_parts: bool) -> tuple[_Subjects, _Subjects]:
    """Both with one name for algorithms that just one of them has and that are compared: `A's, B's`."""
    own_a, own_b = [of for of in a if of not in b], [of for of in b if of not in a]
    builds_b = _by_stack(own_b)
    pairs = {of: builds_b[stack] for stack, of in _by_stack(own_a).items() if stack in builds_b}
    left_a, left_b = [of for of in own_a if of not in pairs], [of for of in own_b if of not in pairs.values()]
    if len(left_a) == len(left_b) == 1 and (are_parts or (_SLASH in left_a[0] and _SLASH in left_b[0])):
        pairs[left_a[0]] = left_b[0]
    names = {of: f"{of}, {other}" for of, other in pairs.items()}
    names_b = {other: names[of] for of, other in pairs.items()}
    return {names.get(of, of): each for of, each in a.items()}, {names_b.get(of, of): each for of, each in b.items()}


_SLASH = "/"
"""Between a QUIC stack, or a build of it, and its algorithm: `noq@branch/cubic`."""


def _by_stack(labels: Sequence[str]) -> Mapping[str, str]:
    """Labels of QUIC flows by stack and algorithm without a build, where these are one label's alone."""
    plain = [re.sub(r"@[^/]*/", _SLASH, of) for of in labels]
    return {stack: of for stack, of in zip(plain, labels, strict=True) if _SLASH in of and plain.count(stack) == 1}


def as_row(row: Row, keys: Sequence[str]) -> dict[str, object]:
    """A row with plain values, by name: those of `keys`, both means, the difference with its interval, effect sizes."""
    found = row.contrast
    about: dict[str, object] = {
        "metric": row.metric.name,
        "unit": row.metric.unit,
        **dict(zip(keys, row.place, strict=True)),
        "of": row.of,
    }
    interval = {"difference": found.difference.value, "low": found.difference.low, "high": found.difference.high}
    effects = {"hedges_g": found.hedges_g, "cliffs_delta": found.cliffs_delta, "method": found.method}
    effects |= {"pairs": found.difference.n if found.method == "paired" else None}
    about |= {"suspect_a": row.suspect_a, "suspect_b": row.suspect_b}
    return about | {"n_a": row.n_a, "n_b": row.n_b, "a": found.reference, "b": found.mean} | interval | effects


def _cells(study: Frames, keys: Sequence[str], other: Frames) -> dict[Place, int]:
    found: dict[Place, int] = {}
    for row in study.cells.iter_rows(named=True):
        place = tuple(_text(row[key]) for key in keys)
        if place in found:
            more = [key for key in study.keys if key not in keys]
            raise InputError(
                f"{study.directory} has several cells for one of {other.directory}",
                f"it also varies {', '.join(more)}",
                "compare studies that vary the same keys",
            )
        found[place] = row["cell"]
    return found


def _text(value: Any) -> str:
    if isinstance(value, str) and value.startswith("{"):
        return label(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _samples(study: Frames, metric: Metric) -> Mapping[int, Mapping[str, Samples]]:
    """Cell -> algorithm, or link, or nothing -> seed -> value."""
    rows = values(study, metric)
    if metric.scopes[0] == "link":
        rows = rows.filter(pl.col("of").is_in(limited_links(study)))
    grouped = rows.group_by("cell", "of", maintain_order=True).agg("seed", "value").sort("cell", maintain_order=True)
    found: dict[int, dict[str, Samples]] = {}
    for cell, of, seeds, each in grouped.iter_rows():
        found.setdefault(cell, {})[of] = dict(zip(seeds, each, strict=True))
    return found
