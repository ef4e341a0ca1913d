"""What a report draws, free of how: the HTML page, matplotlib and CSV all read these.

Times are seconds since the run's origin. Values are in the panel's unit. A null value is a gap in the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

Look = Literal["curve", "pale", "low", "high", "resent", "lost"]
"""How a curve is drawn: strong; pale, as what a model is made from; dotted and dashed, as bounds; as marks."""


@dataclass(frozen=True)
class Group:
    """Flows that share a colour and an entry in the legend: one flow, or all of an algorithm if there are many."""

    label: str
    flows: tuple[str, ...]
    light: str
    """Colour on white, `#rrggbb`."""
    dark: str
    """Colour on black."""
    dash: tuple[int, ...] = ()
    """Lengths of dash and gap in points; empty: solid. Tells flows of one colour apart."""


@dataclass(frozen=True)
class Line:
    """One curve over the times of its view."""

    values: pl.Series
    group: int | None
    """Index of its group; `None`: of no flow."""
    flow: str | None = None
    name: str = ""
    """What it shows, if it is of no flow: `queue`, `capacity`."""
    is_level: bool = False
    """Other curves are read against it, as against a `Reference`; it changes over time."""
    quantity: int = 0
    """Index into the panel's `quantities`, if it has any."""
    time_s: pl.Series | None = None
    """Its own times; `None`: those of its view."""
    steps: bool = False
    """A value holds until the next one."""


@dataclass(frozen=True)
class Quantity:
    """One of the things that a panel shows of each flow."""

    key: str
    """Column name in CSV, in the unit of the panel's `key`: `bbr_bw_bps`."""
    word: str
    """In a legend: `bw`."""
    look: Look = "curve"


@dataclass(frozen=True)
class Reference:
    """A level that the curves are read against, such as the capacity."""

    value: float
    label: str


@dataclass(frozen=True)
class SecondAxis:
    """The same curve in another unit, on the right: right = left * factor."""

    unit: str
    factor: float


@dataclass(frozen=True)
class Marks:
    """Moments at which something befell a packet."""

    kind: str
    """`drop` or `mark`."""
    time_s: pl.Series


@dataclass(frozen=True)
class View:
    """What a panel shows at one time; a panel of queues has one view per link."""

    name: str
    time_s: pl.Series
    lines: tuple[Line, ...]
    note: str
    """Where the data comes from and how it was thinned out."""
    references: tuple[Reference, ...] = ()
    second: SecondAxis | None = None
    marks: tuple[Marks, ...] = ()
    top: float | None = None
    """Values above it are cut off: a few of them would press the rest flat."""


@dataclass(frozen=True)
class Panel:
    """One plot."""

    key: str
    """Column name in CSV, in a unit that is the same for every run: `goodput_bps`."""
    per_unit: float
    """Value in that unit = value in the panel's unit * `per_unit`."""
    title: str
    unit: str
    views: tuple[View, ...]
    from_zero: bool = True
    """Whether the axis of values starts at 0."""
    quantities: tuple[Quantity, ...] = ()
    """Empty: one, which `key` names."""


@dataclass(frozen=True)
class Kind:
    """What can befall a packet."""

    key: str
    """As in CSV: `tail`, `mark`, `retransmission`."""
    word: str
    """Of packets that it befell: `12 resent`."""
    pale: bool = False


@dataclass(frozen=True)
class Events:
    """What befell packets of one group, counted in short intervals."""

    kind: str
    """Key of its `Kind`."""
    group: int | None
    """`None`: of no known flow."""
    time_s: pl.Series
    count: pl.Series


@dataclass(frozen=True)
class Change:
    """The plan changes a link."""

    time_s: float
    link: str
    words: str
    """What it is from then on."""
    label: str
    """The same with its time, and short."""


@dataclass(frozen=True)
class State:
    """A state of BBR, or for version 1 a part of one."""

    key: str
    """As in CSV: `probe_bw_up`."""
    word: str
    """As papers write it: `PROBE_BW: UP`."""
    light: str
    """Colour on white."""
    dark: str
    """Colour on black."""
    height: float
    """Of its band, in the lane's: more where BBR sends faster."""


@dataclass(frozen=True)
class Lane:
    """States of one flow in the order of time."""

    flow: str
    group: int
    start_s: pl.Series
    end_s: pl.Series
    state: pl.Series
    """Index of each band's state."""


@dataclass(frozen=True)
class Bands:
    """A lane for each flow that said which state it was in."""

    states: tuple[State, ...]
    """Those that occur, in the order of a flow's life."""
    lanes: tuple[Lane, ...]
    note: str


@dataclass(frozen=True)
class Cloud:
    """ACKs of one flow."""

    flow: str
    group: int
    time_s: pl.Series
    inflight_bytes: pl.Series
    rate_bps: pl.Series
    rtt_ms: pl.Series
    state: pl.Series
    """Index into the states of the run's `Bands`; null: of none."""


@dataclass(frozen=True)
class Limit:
    """What no flow can pass, as a polyline over bytes in flight, in bytes and bit/s or ms."""

    label: str
    inflight_bytes: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Kleinrock:
    """Delivery rate and RTT against data in flight."""

    clouds: tuple[Cloud, ...]
    bdp_bytes: float | None
    """The unit of the common axis; `None`: bytes."""
    full_bytes: float | None
    """In flight as the buffer overflows, of a flow alone."""
    rate_limits: tuple[Limit, ...]
    rtt_limits: tuple[Limit, ...]
    top_rate_bps: float
    top_rtt_ms: float
    bottom_rtt_ms: float
    right_bytes: float
    note: str


@dataclass(frozen=True)
class Plots:
    """All plots of a run."""

    title: str
    duration_s: float
    groups: tuple[Group, ...]
    panels: tuple[Panel, ...]
    changes: tuple[Change, ...]
    """In the order of time."""
    kinds: tuple[Kind, ...]
    """Of events, in the order of their lanes."""
    events: tuple[Events, ...]
    events_note: str
    counted_per_flow: tuple[str, ...]
    """Keys of the kinds that are known for each flow; without packet records drops are known per link only."""
    missing: tuple[str, ...]
    """Sentences that say which plot could not be drawn and why."""
    bands: Bands | None = None
    kleinrock: Kleinrock | None = None
