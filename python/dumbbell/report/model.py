"""The content of a report, independent of how it is drawn: the page, the figures and the CSV files all read these
descriptions.

A report has panels, a panel has views, a view has marks: lines, bands, points, bars, ticks, states and text. Times are
seconds since the run's origin. Values are in the view's unit; a null value is a gap. The page's types are generated
from this file (`make generate`): a docstring here is a comment there.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import polars as pl

from dumbbell.frozen import dataclass

Times = Annotated[pl.Series, "times"]
"""Seconds, exact to half of a billionth of the run's duration on the page."""
Values = Annotated[pl.Series, "values"]
"""Single precision on the page. Null is NaN there."""
Codes = Annotated[pl.Series, "codes"]
"""Indices up to 254. Null is 255 on the page."""
Counts = Annotated[pl.Series, "counts"]
"""Integers from 0 to 2^32 - 1."""

Look = Literal["curve", "pale", "low", "high", "resent", "lost"]
"""The look of a quantity: strong; pale, for the inputs of a model; dotted and dashed, for bounds; as points."""

MOST_APART: Final = 10.0
"""Plots of one kind share a vertical axis, unless their largest values differ by more than this factor."""


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
    """A curve."""

    values: Values
    group: int | None
    """Index of its group; `None`: of no flow."""
    flow: str | None = None
    name: str = ""
    """The quantity, if it is not a flow's: `queue`, `capacity`."""
    is_level: bool = False
    """Other curves are read against it, as against a `Reference`; it changes along the axis."""
    quantity: int = 0
    """Index into the panel's `quantities`, if it has any."""
    time_s: Times | None = None
    """Times of this line; `None`: those of its view."""
    x: Values | None = None
    """The values' places on a horizontal axis that is not time."""
    steps: bool = False
    """A value holds until the next one."""
    kind: Literal["line"] = "line"


@dataclass(frozen=True)
class Band:
    """An area between two curves."""

    low: Values
    high: Values
    group: int | None
    time_s: Times | None = None
    """Times of this band; `None`: those of its view."""
    x: Values | None = None
    """The values' places on a horizontal axis that is not time."""
    is_excluded: bool = False
    """No point can lie in this band: it is drawn behind everything, in grey."""
    kind: Literal["band"] = "band"


@dataclass(frozen=True)
class Points:
    """Points of one flow: dots, rings, triangles where a packet was lost, crosses where it was sent again."""

    values: Values
    group: int | None
    time_s: Times
    flow: str | None = None
    quantity: int = 0
    """Index into the panel's `quantities`, if it has any."""
    x: Values | None = None
    """The points' places on a horizontal axis that is not time."""
    state: Codes | None = None
    """Index of each point's state in the panel's `states`."""
    look: Literal["dot", "ring", "lost", "resent"] = "dot"
    kind: Literal["point"] = "point"


@dataclass(frozen=True)
class Bars:
    """Upright bars of one flow, as the bytes of packets have in a sequence space."""

    time_s: Times
    low: Values
    high: Values
    group: int | None
    flow: str | None = None
    name: str = ""
    """Name of the points in CSV: `packet`, `sack`, `resent`."""
    state: Codes | None = None
    """Index of each bar's state in the panel's `states`, whose colour it has; `None`: all have the group's colour."""
    least: float = 1.0
    """Least height, pixels of the screen."""
    is_pale: bool = False
    kind: Literal["bar"] = "bar"


@dataclass(frozen=True)
class Ticks:
    """Moments: in a lane, or at an edge of the panel."""

    time_s: Times
    count: Counts | None = None
    """The number of events behind each tick; `None`: one."""
    lane: int | None = None
    """Index into the view's `lanes`."""
    edge: Literal["", "drop", "mark"] = ""
    """Drops are drawn at the upper edge, ECN marks at the lower one."""
    kind: Literal["tick"] = "tick"


@dataclass(frozen=True)
class States:
    """The states of one flow in the order of time, as blocks of colour in a lane."""

    lane: int
    """Index into the view's `lanes`."""
    start_s: Times
    end_s: Times
    state: Codes
    """Index of each block's state in the panel's `states`."""
    kind: Literal["state"] = "state"


@dataclass(frozen=True)
class Text:
    """Words at a place of the plot. They are left out where they find no room."""

    words: str
    x: float
    y: float
    align: Literal["left", "right"] = "left"
    """The side of the text on which the place is."""
    side: Literal["above", "middle", "below"] = "middle"
    """The text's position as seen from the place."""
    only_wide: bool = False
    """True if the text is left out of a narrow plot."""
    is_outside: bool = False
    """True if the text names a level, right of the plot."""
    kind: Literal["text"] = "text"


Mark = Line | Band | Points | Bars | Ticks | States | Text


@dataclass(frozen=True)
class Quantity:
    """One of the things that a panel shows of each flow."""

    key: str
    """Column name in CSV, in the unit of the panel's `key`: `bbr_bw_bps`."""
    word: str
    """The name in a legend: `bw`."""
    look: Look = "curve"


@dataclass(frozen=True)
class Reference:
    """A reference level for the curves, such as the capacity."""

    value: float
    label: str


@dataclass(frozen=True)
class SecondAxis:
    """The same curve in another unit, on the right: right = left * factor."""

    unit: str
    factor: float


@dataclass(frozen=True)
class Lane:
    """A strip along the time axis. Neighbours of one name and group make a row."""

    key: str
    """The name in CSV of the event that it counts; empty for states."""
    name: str
    """The name of its row, left of the axis."""
    group: int | None
    """`None`: the flow is not known."""
    word: str = ""
    """After a count: `12 resent`."""
    is_pale: bool = False


@dataclass(frozen=True)
class View:
    """The part of a panel that is shown at one time; a panel of queues has one view per link."""

    name: str
    time_s: Times
    marks: tuple[Mark, ...]
    note: str
    """The source of the data, and how it was thinned out."""
    references: tuple[Reference, ...] = ()
    second: SecondAxis | None = None
    low: float | None = None
    """The axis of values starts here; `None`: where the panel says."""
    top: float | None = None
    """Values above it are cut off: a few of those values would press the rest flat."""
    lanes: tuple[Lane, ...] = ()
    """Lanes that replace an axis of values."""
    key: str = ""
    """Column name in CSV, of a panel whose views differ in what they show; empty: the panel's."""
    per_unit: float = 1.0
    """The second unit, if there is a `key`: value in that unit = value in the view's unit * `per_unit`."""
    title: str = ""
    """The view's title, if there is a `key`."""
    unit: str = ""
    """The unit of its values, if there is a `key`."""
    mean_bps: float | None = None
    """The values are bytes from 0, which grow by about this rate. They can be shown less what this rate, or another,
    would have sent by then: so differences of a few packets are seen among many."""
    is_relative: bool = False
    """Values may be below 0, and the axis fits them."""

    @property
    def lines(self) -> tuple[Line | Points, ...]:
        """Marks with a value of one of the panel's quantities."""
        return tuple(mark for mark in self.marks if isinstance(mark, Line | Points))


@dataclass(frozen=True)
class State:
    """A state of BBR, or for version 1 a part of one."""

    key: str
    """The name in CSV: `probe_bw_up`."""
    word: str
    """The name in papers: `PROBE_BW: UP`."""
    light: str
    """Colour on white."""
    dark: str
    """Colour on black."""
    height: float
    """The height of its block as a share of the lane: a state in which BBR sends faster is higher."""


@dataclass(frozen=True)
class Across:
    """A horizontal axis that is not time."""

    key: str
    """Column name in CSV."""
    per_unit: float
    """Value in CSV = value on the axis * `per_unit`."""
    title: str
    unit: str
    right: float
    """The axis ends here."""
    levels: tuple[float, ...] = ()
    """Values with a dotted line upwards."""
    unit_is: str = ""
    """The size of the unit, if that depends on the run: `75 kB`."""
    left: float = 0.0
    """The axis begins here. Above 0 it is logarithmic."""


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
    """True if the axis of values starts at 0."""
    quantities: tuple[Quantity, ...] = ()
    """The quantities of the marks; empty: one, which `key` names."""
    across: Across | None = None
    """`None`: the horizontal axis is the page's time axis."""
    states: tuple[State, ...] = ()
    """The states that its marks refer to, in the order of a flow's life."""
    is_stacked: bool = False
    """True if all views are shown, one above the other; otherwise the reader chooses one."""
    choice: str = ""
    """The label of the reader's choice: `Link whose queue is shown`."""
    pictured: int = 1
    """The number of views in a figure, where no reader can choose; the first ones, one above the other."""
    decimals: int | None = None
    """Decimals of values under the crosshair; `None`: as many as are significant."""
    is_log: bool = False
    """True if the axis of values is logarithmic; values are then above 0."""


@dataclass(frozen=True)
class Change:
    """The plan changes a link, or kills or starts a routing daemon."""

    time_s: float
    link: str
    """The link, or the daemon's router."""
    words: str
    """The state from then on."""
    label: str
    """The same with its time, and short."""


@dataclass(frozen=True)
class Plots:
    """All plots of a run."""

    title: str
    duration_s: float
    groups: tuple[Group, ...]
    panels: tuple[Panel, ...]
    """The panels in the order of the page."""
    changes: tuple[Change, ...]
    """The changes in order of time."""
    missing: tuple[str, ...]
    """Sentences that say which plot could not be drawn and why."""
    shown_s: tuple[float, float] | None = None
    """The part of the time axis that the page shows first; `None`: all of it."""

    def panel(self, key: str) -> Panel | None:
        """The panel of this key; `None` if it could not be drawn."""
        return next((panel for panel in self.panels if panel.key == key), None)
