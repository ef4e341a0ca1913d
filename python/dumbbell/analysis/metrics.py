"""Figures of a run. The core computes them (crate `figures`), for single runs and for studies.

`docs/reference/metrics.md` has formulas and sources. Times are nanoseconds since the run's origin. A figure that the
records cannot give is `None`, never 0 and never NaN.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from dumbbell import inputs
from dumbbell.core import core
from dumbbell.errors import DumbbellError
from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Span:
    """The events between two times of a run."""

    received_bytes: Mapping[str, int]
    """Bytes that each flow's receiver got: the counter's last value by the end minus that by the start."""
    jain_index: float | None
    """Jain's fairness index of the bulk TCP flows' bytes; `None` with fewer than two, or if none got any."""
    utilisation: Mapping[str, float | None]
    """Share of each link's capacity that was used; `None` if it had no rate at a time, or could send nothing."""


def compute(directory: str | PathLike[str], network: str) -> Mapping[str, object]:
    """Write `flows.parquet` of the run in `directory`; the figures of `summary.json`.

    Args:
        directory: with the tables, `plan.json` and `traffic.json`.
        network: the file there in which the engine accounts for links.

    Raises:
        DumbbellError: a file is missing, or cannot be read.
    """
    found: Mapping[str, object] = _computed(directory, lambda: core.figures_of(directory, network, _opened(directory)))
    return found


def between(directory: str | PathLike[str], start_ns: int, end_ns: int) -> Span:
    """The events of the run in `directory` between two times. Times are rounded down to the sampling interval.

    Raises:
        DumbbellError: a file is missing, or cannot be read.
    """
    return Span(**_computed(directory, lambda: core.figures_between(_opened(directory), start_ns, end_ns)))


@dataclass(frozen=True)
class PathBottlenecks:
    """The bottleneck of a path over time."""

    links: Sequence[str]
    """The links of the path at which packets can wait, from the sender on."""
    flows: Sequence[str]
    """The flows whose data take it."""
    course: Sequence[tuple[int, str | None]]
    """Each change: the time in ns, and the link that is the bottleneck from then on. `None`: none is."""


def bottlenecks(directory: str | PathLike[str]) -> list[PathBottlenecks]:
    """The bottlenecks of the run in `directory`, for each different path. They are found in the table of links.

    Raises:
        DumbbellError: the table is missing, or cannot be read.
    """
    return [PathBottlenecks(**one) for one in _computed(directory, lambda: core.bottlenecks_of(_opened(directory)))]


def _opened(directory: str | PathLike[str]) -> Callable[[str], int]:
    return lambda name: inputs.opened(os.path.join(directory, name))


def _computed(directory: str | PathLike[str], compute: Callable[[], str]) -> Any:
    try:
        return json.loads(compute())
    except RuntimeError as error:
        hint = "repeat the run if it was cut short"
        raise DumbbellError(f"cannot compute metrics for {directory}", str(error), hint) from error
