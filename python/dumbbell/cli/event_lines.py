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
    """The run's id: the end of its directory's name."""
    engine: str
    """The engine that carries it out."""


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
    """The number of cells planned so far."""
    of: int
    """The number of all cells."""
    least: NotRequired[int]
    """The least number of runs of a cell; before the first cell is planned."""


class PlannedStudy(TypedDict):
    """The runs of a study, or of a further round of it, are known, and begin."""

    event: Literal["planned"]
    runs: int
    """The runs of this round."""
    known: int
    """The runs of earlier rounds."""
    directory: str
    """The study's directory."""
    cells: int
    """The cells that have runs in this round."""
    of: int
    """The number of all cells."""
    traffic_s: float
    """Time of all runs together, as their hosts see it."""
    longest_s: float
    """Time of the longest run."""
    until: bool
    """True if results decide whether there are further rounds."""
    least: int
    """The least number of runs of a cell."""
    at_once: NotRequired[float]
    """The number of runs that go on at a time, as forecast."""
    forecast_s: NotRequired[float]
    """The time that the round will take, as forecast."""


class StudyProgress(TypedDict):
    """The progress of a study."""

    event: Literal["progress"]
    runs: int
    """Runs that have ended, earlier ones that were found included."""
    of: int
    """The runs of this round and those before."""
    found: int
    """Runs that earlier commands had finished."""
    failed: int
    """Runs that were given up."""
    wall_s: float
    """Time since the round began."""
    repeated: NotRequired[int]
    """Emulated: runs that were carried out again because they failed."""
    redone: NotRequired[int]
    """Emulated: runs that were carried out again because the machine disturbed them."""
    left_s: NotRequired[float | None]
    """Emulated: the time that the rest will take; `None` as long as it is not known."""
    cpu_s: NotRequired[float]
    """Simulated: CPU time of all threads."""
    simulated_s: NotRequired[float]
    """Simulated: the time that passed in the simulated networks."""
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
