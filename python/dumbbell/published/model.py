"""What a published study printed, drew and found, and the studies that do it again.

A reproduction is data: the package has a module for each, with a constant `REPRODUCTION`. Only its findings compute, on
the frames of the studies that were run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from dumbbell.engines.names import SIMULATE

if TYPE_CHECKING:
    from dumbbell.studies import Study

Cell = Mapping[str, Any]
"""Swept key -> value, as the study file writes it. Keys that are left out may have any value."""

Studies = Mapping[str, "Study"]
"""Part -> what was run of it; a part that was not run is absent."""


@dataclass(frozen=True)
class Published:
    """A number that a study prints."""

    where: Cell
    metric: str
    """As `dumbbell.statistics.metrics` calls it."""
    of: str | None
    """The algorithm, group, flow or link; `None`: all flows together, or the bottleneck."""
    value: float
    """In the metric's unit."""
    source: str
    """Where it is printed: `table 2`."""
    relative_to: str | None = None
    """If given, only the ratio to this algorithm (`of`) in the same cell can be compared, not the number itself."""


class Status(StrEnum):
    """Of a finding."""

    HOLDS = "holds"
    FAILS = "doesn't hold"
    UNKNOWN = "can't be told"


@dataclass(frozen=True)
class Judged:
    """What became of a finding."""

    status: Status
    numbers: str
    """Behind it: `BBR 9.3 [9.1, 9.5], CUBIC 4.1 [3.9, 4.3] Mbit/s, n = 5`."""


@dataclass(frozen=True)
class Finding:
    """What a study says that it found, and how to see whether we find it, too."""

    text: str
    judge: Callable[[Studies], Judged]


@dataclass(frozen=True)
class Axis:
    """An axis as it was drawn."""

    title: str
    """With its unit."""
    low: float | None = None
    high: float | None = None
    """`None`: not known, ours then fits what is drawn."""
    log: bool = False
    factor: float = 1.0
    """What values, in base units, are divided by to be in the axis's unit: 1e6 for Mbit/s."""


Signal = Literal["sending rate", "goodput", "cwnd", "rtt", "inflight", "queue"]
"""Over time, of one run: bit/s that a sender sends, repeats included, and bit/s that arrive; segments, s, bytes, bytes
that wait at the bottleneck."""


@dataclass(frozen=True)
class Plot:
    """A plot of the study, which ours repeats."""

    title: str
    source: str
    """`figure 3`."""
    kind: Literal["lines", "bars", "cdf", "series"]
    """Against a swept key, of averages; the same as bars; over all flows of a cell; over the time of one run each."""
    x: Axis
    y: Axis
    metric: str
    """As `dumbbell.statistics.metrics` calls it; of `series` a `Signal`."""
    key: str | None = None
    """Of lines and bars: the swept key along x."""
    curves: str | None = None
    """The swept key with a curve for each value."""
    where: Cell = field(default_factory=dict)
    """The cells that are drawn."""
    of: tuple[str, ...] = ()
    """Algorithms, groups or flows, with a curve for each; empty: all flows together, or the bottleneck."""
    marks: tuple[tuple[float, str], ...] = ()
    """Horizontal lines: value in the axis's unit, and its name, such as the fair share."""


@dataclass(frozen=True)
class Table:
    """How published numbers are laid out: those with a value of both keys."""

    title: str
    source: str
    rows: str
    """Swept key with a row for each value."""
    columns: str
    metric: str
    of: str | None
    reference: Any = None
    """The column that changes are relative to; `None`: no changes are shown."""
    factor: float = 1.0
    """What values are divided by to be in the title's unit."""


Settings = Mapping[str, Any]
"""Key -> value, as `--set` would: `{"sweep": {...}, "repeat": 2, "topology.rtt": "10 ms"}`. Tables replace tables."""


@dataclass(frozen=True)
class Part:
    """Runs of one set-up: a study file."""

    name: str
    title: str
    scenario: str
    """The study file: `STUDY/NAME.toml` is `scenarios/NAME.toml` in the study's folder."""
    set: Settings = field(default_factory=dict)
    """What this part sets in it: several parts can share a file."""
    engines: tuple[str, ...] = (SIMULATE,)
    """That can carry it out; the first one is the default."""
    by_engine: Mapping[str, Settings] = field(default_factory=dict)
    """What is set, beside, for an engine: fewer repetitions where they take long."""
    quick: Settings = field(default_factory=dict)
    """What `--quick` sets, after all others."""
    published: tuple[Published, ...] = ()
    tables: tuple[Table, ...] = ()
    """Published numbers that are in none are shown as a list."""
    plots: tuple[Plot, ...] = ()
    variant_of: str | None = None
    """The part of which this is another reading."""
    notes: tuple[str, ...] = ()
    """What most probably explains a difference, and what in our runs shows it."""
    evidence: Callable[[Study], str] | None = None
    """From our runs: the numbers that back the notes, as a sentence or some; run after the part."""
    cpu_s: float | None = None
    """Of a simulated run, as measured: for the forecast."""


@dataclass(frozen=True)
class Reproduction:
    """A published study."""

    key: str
    title: str
    citation: str
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...]
    definitions: tuple[str, ...] = ()
    """What the text leaves open, and how it is read here."""
    confidence: float = 0.95
    """Of its intervals, and of ours beside them."""
