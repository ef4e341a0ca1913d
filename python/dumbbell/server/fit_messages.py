"""Messages of the view "Captures": the path that is fitted to a captured transfer, and what would change it."""

from __future__ import annotations

from pydantic import Field

from dumbbell.server.messages import Asked, Message
from dumbbell.server.whatif_messages import Knob


class Course(Message):
    """Course of the captured transfer: a value for each step of the time, null where it is not known."""

    time_s: list[float]
    """End of each step, in seconds."""
    goodput_bps: list[float]
    rtt_ms: list[float | None]
    in_flight_bytes: list[float | None]


class Fitted(Message):
    """`POST /api/fit?name=&connection=`, with a file as its body: the fitted path. The file is gone by then."""

    id: str
    """Name of this fit in later requests."""
    name: str
    """Name of the file."""
    title: str
    """The connection and the file, in words."""
    answer: list[str]
    """Sentences, as `dumbbell fit` prints them."""
    table: list[list[str]]
    """Rows of estimates: property, value, interval, and evidence or the reason why it is not identifiable."""
    measured: Course | None
    """Null: the file has no transfer, or only its figures."""
    left_out: int
    """Packets that were not read, as there were too many."""
    cc: str
    """Congestion control of the captured transfer: the one that the file names, or CUBIC."""
    algorithms: list[str]
    """Congestion controls by which the transfer can be repeated."""
    command: str
    """The same by the command line."""
    scenario: str
    """Text of the scenario of the fitted path."""
    knobs: list[Knob]


class ChangesAsked(Asked):
    """`POST /api/fit/ID/what-if`: repeat the captured transfer with changes, over paths drawn from the intervals."""

    cc: str = Field(max_length=100)
    """Congestion control of the captured transfer."""
    changes: list[str] = Field(min_length=1, max_length=12)
    """Changes, as after `--what-if`: `cc=bbr3,bbr`."""


class Outcomes(Message):
    """Reruns of the captured transfer with each change."""

    answer: list[str]
    """A sentence for each change."""
    table: list[list[str]]
    """Rows: what, time, goodput, sent again, RTT, and what limits. The first is the capture."""
    runs: int
    """Simulated runs for each row."""


class FitPlanAsked(Asked):
    """`POST /api/fit/ID/plan`: plan the fitted path with other values."""

    overrides: list[str] = Field(default=[], max_length=200)
    """Overrides, as after `--set`."""


class FitSaveAsked(Asked):
    """`POST /api/fit/ID/save`: write the fitted path into the workspace, with other values."""

    to: str
    overrides: list[str] = Field(default=[], max_length=200)
