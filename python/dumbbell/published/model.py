"""The numbers, plots and findings of a published study, and the studies that repeat it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from dumbbell.engines.names import SIMULATE
from dumbbell.frozen import dataclass
from dumbbell.report.overlay import OF_COLUMNS

if TYPE_CHECKING:
    from dumbbell.studies import Study

Cell = Mapping[str, Any]
"""Swept key -> value, as the study file writes it. Omitted keys may have any value."""

Studies = Mapping[str, "Study"]
"""Part -> its study; a part that was not run is absent."""


@dataclass(frozen=True)
class Published:
    """A number that a study prints."""

    where: Cell
    metric: str
    """The metric's name in `dumbbell.statistics.metrics`."""
    of: str | None
    """The algorithm, group, flow or link; `None`: all flows together, or the bottleneck."""
    value: float
    """The number in the metric's unit."""
    source: str
    """The place where it is printed: `table 2`."""
    relative_to: str | None = None
    """If given, only the ratio to this algorithm (`of`) in the same cell can be compared, not the number itself."""


class Status(StrEnum):
    """The status of a finding."""

    HOLDS = "holds"
    FAILS = "doesn't hold"
    UNKNOWN = "can't be told"
    UNTESTED = "not tested"


@dataclass(frozen=True)
class Judged:
    """The outcome of a finding."""

    status: Status
    numbers: str
    """The numbers behind it: `BBR 9.3 [9.1, 9.5], CUBIC 4.1 [3.9, 4.3] Mbit/s, n = 5`."""


@dataclass(frozen=True)
class Finding:
    """A finding of the study, and how to check whether our runs show it."""

    text: str
    judge: Callable[[Studies], Judged]
    printed: str = ""
    """The numbers that they print of it, and where these say something else than their text."""
    reading: str = ""
    """The reading of their text under which it is judged, if there are several: one finding for each."""
    rule: str = ""
    """The rule that judges it."""
    source: str = ""
    """The table, figure or sentence that makes it."""
    is_ours: bool = False
    """True if the study does not make it: this project asks for it."""
    about: str = ""
    """Name of the subject that findings of several texts share."""

    def is_like(self, other: Finding) -> bool:
        """Returns true if both judge the same claim, or claims about the same subject."""
        return self.text == other.text or (self.about != "" and self.about == other.about)


@dataclass(frozen=True)
class Axis:
    """An axis as it was drawn."""

    title: str
    """The title of the axis, with its unit."""
    low: float | None = None
    high: float | None = None
    """Ends of the axis; `None` if unknown: ours then fits the curves."""
    log: bool = False
    factor: Annotated[float, Field(gt=0)] = 1.0
    """Values in base units are divided by this to be in the axis's unit: 1e6 for Mbit/s."""


Signal = Literal["sending rate", "goodput", "cwnd", "rtt", "inflight", "queue"]
"""Over time, of one run: bit/s that a sender sends, repeats included, and bit/s that arrive; segments, s, bytes, bytes
that wait at the bottleneck."""


@dataclass(frozen=True)
class Plot:
    """A plot of the study, which ours repeats."""

    title: str
    source: str
    """`figure 3`."""
    kind: Literal["lines", "bars", "boxes", "cdf", "series", "columns"]
    """`lines`: averages against a swept key; `bars`: the same as bars; `boxes`: quartiles and all runs; `cdf`: over all
    flows of a cell; `series`: over time, one run for each curve; `columns`: over time, a column for each value of a
    key."""
    x: Axis
    y: Axis = field(default_factory=lambda: Axis(""))
    """The values upwards; in `columns`, each row has its own."""
    metric: str = ""
    """The metric's name in `dumbbell.statistics.metrics`; a `Signal` for `series`; empty for `columns`."""
    key: str | None = None
    """The swept key along x, for lines, bars and boxes; that of the columns."""
    curves: str | None = None
    """The swept key with a curve for each value."""
    where: Cell = field(default_factory=dict)
    """The cells that are drawn."""
    of: tuple[str, ...] = ()
    """Algorithms, groups or flows, with a curve for each; empty: all flows together, or the bottleneck."""
    relative_to: str | None = None
    """If given, lines and bars are of ratios to this algorithm (`of`) in the same cell."""
    marks: tuple[tuple[float, str], ...] = ()
    """Horizontal lines: value in the axis's unit, and its name, such as the fair share; of `columns`, in the first
    row."""
    points: tuple[tuple[float, float, str], ...] = ()
    """Printed points that are no number of a table: both values in the axes' units, and a name for the legend."""
    legend: str = ""
    """Title of the legend: the quantity that tells the curves apart, such as the share of UDP."""
    rows: tuple[str, ...] = OF_COLUMNS
    """The plots of `columns`, as after `--plots`."""
    phases: bool = False
    """True if `columns` have the phases of BBR behind their curves."""


@dataclass(frozen=True)
class Table:
    """The layout of published numbers that have a value of both keys."""

    title: str
    source: str
    rows: str
    """Swept key with a row for each value."""
    columns: str
    metric: str
    of: str | None
    reference: Any = None
    """The column that changes are relative to; `None`: no changes are shown."""
    factor: Annotated[float, Field(gt=0)] = 1.0
    """Values are divided by this to be in the title's unit."""


@dataclass(frozen=True)
class Seconds:
    """Runs second by second, as iperf3 prints them."""

    title: str
    source: str
    """The table or slide that prints one."""
    where: Cell = field(default_factory=dict)
    """The cells whose first run is printed."""
    first: Annotated[int, Field(gt=0)] = 10
    """The number of seconds that are printed; sums are of the whole run."""


Settings = Mapping[str, Any]
"""Key -> value, as `--set` would: `{"sweep": {...}, "repeat": 2, "topology.rtt": "10 ms"}`. Tables replace tables."""


@dataclass(frozen=True)
class Part:
    """A part of a study: runs of one study file."""

    name: str
    title: str
    scenario: str
    """Path of the study file."""
    set: Settings = field(default_factory=dict)
    """Keys that this part sets in it; several parts can share a file."""
    engines: tuple[str, ...] = (SIMULATE,)
    """Engines that can carry it out; the first one is the default."""
    by_engine: Mapping[str, Settings] = field(default_factory=dict)
    """Further keys for an engine, such as fewer repetitions where they take long."""
    quick: Settings = field(default_factory=dict)
    """Keys that `--quick` sets, after all others."""
    published: tuple[Published, ...] = ()
    tables: tuple[Table, ...] = ()
    """Published numbers outside the tables are shown as a list."""
    plots: tuple[Plot, ...] = ()
    seconds: tuple[Seconds, ...] = ()
    variant_of: str | None = None
    """The part of which this is a variant."""
    notes: tuple[str, ...] = ()
    """Differences between their set-up and ours: the part that has theirs, or "not tested"."""
    evidence: Callable[[Study], str] | None = None
    """Makes a few sentences with further numbers of our runs; called after the part's runs."""
    cpu_s: float | None = None
    """Measured cost of a simulated run, for the forecast."""
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """How this part writes cells of the part that it is like: key -> its own key at `key`, and its own values."""

    def translated(self, where: Cell) -> Cell:
        """A cell in this part's own keys and values."""
        if not self.cells:
            return where
        found = {}
        for key, value in where.items():
            own = self.cells.get(key, {})
            found[own.get("key", key)] = own.get(str(value), value)
        return found

    def printed(self, metric: str, of: str | None, where: Cell) -> float | None:
        """The printed number of a cell; `None` if there is none."""
        own = self.translated(where)
        return next((one.value for one in self.published if (one.metric, one.of, one.where) == (metric, of, own)), None)


@dataclass(frozen=True)
class Reproduction:
    """A published study."""

    key: str
    title: str
    citation: str
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...]
    definitions: tuple[str, ...] = ()
    """Points that the text leaves open, and our choices."""
    confidence: float = 0.95
    """Confidence of its intervals, and of ours beside them."""
    question: str = ""
    """The question that the study asks."""
