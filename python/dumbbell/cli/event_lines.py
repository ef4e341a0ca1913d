"""The lines that `--events` writes, declared once: the reference and the test of real lines follow from here.

Events of an engine's processes are declared in the crate `messages`, and are part of a run's lines as they are.
"""

from __future__ import annotations

from typing import Final, Literal, NotRequired, TypedDict

from dumbbell.engines import events


class PlannedRun(TypedDict):
    """The scenario is sound, and the run begins."""

    event: Literal["planned"]
    run_id: str
    """End of the name of the run's directory."""
    engine: str
    """Name of the engine."""


class Helper(TypedDict):
    """The first process of an emulated run has begun."""

    event: Literal["helper"]
    pid: int
    """Its process id."""


class Simulating(TypedDict):
    """The simulator begins."""

    event: Literal["simulating"]


class Stopping(TypedDict):
    """The run was told to stop early."""

    event: Literal["stopping"]


class Composing(TypedDict):
    """The records are complete, and are judged."""

    event: Literal["composing"]


class Planning(TypedDict):
    """Cells of a study have been planned."""

    event: Literal["planning"]
    cells: int
    """Cells planned so far."""
    of: int
    """Number of all cells."""
    least: NotRequired[int]
    """Least number of runs of a cell; only before the first cell is planned."""


class PlannedStudy(TypedDict):
    """A round of a study's runs begins."""

    event: Literal["planned"]
    runs: int
    """Runs of this round."""
    known: int
    """Runs of earlier rounds."""
    directory: str
    """Study's directory."""
    cells: int
    """Cells with runs in this round."""
    of: int
    """Number of all cells."""
    traffic_s: float
    """Time of all runs together, in their networks."""
    longest_s: float
    """Longest run's time."""
    until: bool
    """True if results decide on further rounds."""
    least: int
    """Least number of runs of a cell."""
    at_once: NotRequired[float]
    """Runs at a time, as forecast."""
    forecast_s: NotRequired[float]
    """Time of the round, as forecast."""


class StudyProgress(TypedDict):
    """The progress of a study."""

    event: Literal["progress"]
    runs: int
    """Runs that have ended, also earlier ones."""
    of: int
    """Runs of all rounds so far."""
    found: int
    """Runs of earlier commands."""
    failed: int
    """Runs that were given up."""
    wall_s: float
    """Time since the round began."""
    repeated: NotRequired[int]
    """Emulated: failed runs that were repeated."""
    redone: NotRequired[int]
    """Emulated: disturbed runs that were repeated."""
    left_s: NotRequired[float | None]
    """Emulated: time left; `None` if not known."""
    cpu_s: NotRequired[float]
    """Simulated: CPU time of all threads."""
    simulated_s: NotRequired[float]
    """Simulated: time in the networks."""
    packets: NotRequired[int]
    """Simulated: packets that links took."""


class Reporting(TypedDict):
    """The study's page is written."""

    event: Literal["reporting"]


RUN: Final[tuple[type, ...]] = (
    *(PlannedRun, Helper, events.Lab, events.Ready, events.Started, Simulating, events.Progress, events.Changed),
    *(events.Refused, Stopping, events.Failed, events.Done, events.End, Composing),
)
"""The lines of a single run, in the order in which they come."""
STUDY: Final[tuple[type, ...]] = (Planning, PlannedStudy, StudyProgress, Reporting)
"""The lines of a study."""
PARTS: Final[tuple[type, ...]] = (events.FlowProgress, events.BbrProgress, events.LinkProgress, events.Health)
"""The objects within lines."""
