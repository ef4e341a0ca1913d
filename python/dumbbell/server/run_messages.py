"""Messages about runs, studies and comparisons. `messages` has the base."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dumbbell.server.messages import Asked, Message

# Runs


class StartRun(Asked):
    """`POST /api/runs`: run a scenario of the workspace, or a study if it is one."""

    path: str
    overrides: list[str] = Field(default=[], max_length=200)
    """Overrides as after `--set`: `topology.bottleneck.rate=5 Mbit/s`."""
    engine: str | None = None
    repeat: int | None = Field(default=None, ge=1, le=10_000)
    """More than one run of the same: makes it a study."""


class Started(Message):
    """Answer to `POST /api/runs`."""

    kind: Literal["run", "study"]
    id: str
    """Identifier behind `run/` or `study/` in topics and routes."""
    command: str
    """The same by the command line."""
    beside: int
    """Runs in real time that go on already: they disturb each other."""


class Stop(Asked):
    """`POST /api/runs/{id}/stop`, and the same of studies."""

    how: Literal["early", "now"]
    """`early`: what was measured is judged and kept. `now`: records are cut short."""


Status = Literal["starting", "running", "complete", "failed", "interrupted", "killed"]


class Reason(Message):
    """A check of the verdict that a run does not pass."""

    check: str
    verdict: str
    measured: str
    threshold: str
    why: str


class RunState(Message):
    """An event of the topic `run/ID`: where the run stands. The first one comes at once."""

    event: Literal["state"] = "state"
    status: Status
    id: str
    """The run's id from now on: a run that has ended has another name."""
    verdict: str | None = None
    """`valid`, `suspect` or `invalid`, of a run that is complete, or of what an interrupted one measured."""
    reasons: list[Reason] = Field(default=[])
    problem: str | None = None
    """Why it failed."""
    report: bool = False
    """True once `report.html` is there."""


class RunReplay(Message):
    """An event of the topic `run/ID`: many events at once, to somebody who comes later or was slow."""

    event: Literal["replay"] = "replay"
    n: int
    """The number of the last one. Any other event from the run has its number, too."""
    events: list[dict[str, Any]]
    """Events as `--events` writes them. A long run's list leaves out some `progress`."""


class LegendFlow(Message):
    """A flow of a run, as its plots name and colour it."""

    id: str
    label: str
    group: int
    """Index into `groups`."""
    sender: str
    receiver: str
    start_s: float


class LegendGroup(Message):
    """Flows that share a colour."""

    label: str
    light: str
    dark: str
    dash: list[int]


class LegendLink(Message):
    """A link on which something can happen to packets."""

    name: str
    sender: str
    receiver: str
    rate_bps: int | None
    buffer_bytes: float | None
    delay_s: float


class LegendState(Message):
    """A state of BBR, as reports name and colour it."""

    key: str
    word: str
    light: str
    dark: str
    height: float
    """Height of the block, as a share of the lane."""


class LegendEvent(Message):
    """A change of a link that the scenario plans."""

    at_s: float
    words: str


class Legend(Message):
    """Parts of a run's plan that its plots need beside the measurements."""

    duration_s: float
    flows: list[LegendFlow]
    groups: list[LegendGroup]
    links: list[LegendLink]
    changes: list[LegendEvent]
    base_rtt_s: float | None
    """The least round-trip time of any flow's path."""
    mtu: int
    states: list[LegendState]


class RunDetail(Message):
    """`GET /api/runs/{id}`."""

    id: str
    name: str
    run_id: str
    engine: str
    real_time: bool
    status: Status
    verdict: str | None
    reasons: list[Reason]
    problem: str | None
    started_at: str
    wall_s: float | None
    scenario_source: str | None
    overrides: list[str]
    tags: list[str]
    command: str
    """The command that repeats it."""
    text: str
    """The scenario as it was run."""
    legend: Legend | None
    summary: dict[str, Any] | None
    """Summary, as in `summary.json`."""
    directory: str
    """Relative to the workspace."""
    files: list[str]
    events: int
    """The number of events kept so far."""


class AskTable(Asked):
    """`POST /api/runs/table`: the runs that match, in an order, and what can be shown of them."""

    search: str = Field(default="", max_length=1000)
    """Words that must occur in names, settings (`rtt=20 ms`), tags, flows, or reasons of the verdict."""
    tag: str = ""
    verdict: str = ""
    sort: str = ""
    """Key of a column, `name`, `verdict`, `tags` or `started`; empty: the latest first."""
    descending: bool = False
    group: str = ""
    """Key of a setting, `name`, `verdict` or `tags`: runs of one value stand together. Empty: they are not grouped."""
    columns: list[str] | None = Field(default=None, max_length=100)
    """Keys of the columns that are to be shown; null: the server chooses."""
    rows: int = Field(default=100, ge=0, le=1000)
    """Number of rows that come at once."""


class AskRows(Asked):
    """`POST /api/runs/rows`: rows of the table, with these columns."""

    ids: list[str] = Field(max_length=1000)
    columns: list[str] = Field(default=[], max_length=100)


class RunColumn(Message):
    """A setting or a figure that some of the listed runs have."""

    key: str
    title: str
    """The shortest end of the setting's key that no other one has; the name of the figure."""
    unit: str
    kind: Literal["setting", "figure"]
    differs: bool
    """True if the listed runs have different values."""
    runs: int
    """The number of runs that have a value."""


class RunRow(Message):
    """A row of the table of runs."""

    id: str
    name: str
    """Name of the scenario, or of its file where that is called otherwise."""
    label: str
    """Settings by which the run differs from others of its name: `buffer 0.5 bdp, rate 10 Mbit/s`."""
    verdict: str
    """Verdict; of a run without one `running`, `failed`, `interrupted`, `killed` or `damaged`."""
    checks: list[str]
    """Reasons of the verdict."""
    started_at: str
    tags: list[str]
    left_over: bool
    """True if the run failed, was killed, or is an earlier run of a plan that was run again."""
    problem: str
    """Which file of it is damaged, why, and what to do; empty if none is."""
    cells: list[str | float | None]
    """Values of the columns that were asked for: texts of settings, numbers of figures."""


class RunGroup(Message):
    """Runs of the table that have the same value."""

    value: str
    runs: int
    cells: list[str | float | None]
    """Value of each column that all of them have, or the mean of the figure; null: the values differ."""


class RunTable(Message):
    """Answer to `POST /api/runs/table`."""

    ids: list[str]
    """All runs that match, in their order; those of a group follow each other."""
    total: int
    """All runs of the folder that are read."""
    groups: list[RunGroup]
    columns: list[RunColumn]
    """All that there are, settings first."""
    shown: list[str]
    """Keys of the columns that the cells belong to."""
    rows: list[RunRow]
    """The first rows."""
    tags: list[str]
    """All tags in the folder."""
    unread: int
    """Runs of the folder that are not read yet, of thousands of new ones: the next table has more of them."""
    running: int
    """The number of listed runs that go on."""


class RunRows(Message):
    """Answer to `POST /api/runs/rows`: a run that is gone is left out."""

    rows: list[RunRow]


class TagRuns(Asked):
    """`POST /api/runs/tags`: give runs a tag, or take it away."""

    ids: list[str] = Field(max_length=10_000)
    tag: str
    remove: bool = False


class RemoveRuns(Asked):
    """`POST /api/runs/remove`: runs with all their records."""

    ids: list[str] = Field(max_length=10_000)


# Studies


class StudyEntry(Message):
    """A row of the list of studies."""

    id: str
    name: str
    engine: str
    status: str
    """`running`, `complete`, `incomplete`, `interrupted`, `killed` or `damaged`."""
    started_at: str
    runs: int
    """Wanted."""
    varied: list[str]
    """The keys that it varies."""
    scenario_source: str | None
    problem: str = ""
    """Which file of it is damaged, why, and what to do; empty if none is."""


class StudyState(Message):
    """`GET /api/studies/{id}`, and each event of the topic `study/ID`."""

    event: Literal["state"] = "state"
    id: str
    name: str
    engine: str
    status: str
    started_at: str
    done: int
    runs: int
    suspect: int
    suspicions: dict[str, int]
    refused: dict[str, int]
    """Why runs can't be used, and how many."""
    ends_at: str | None
    cells: int
    varied: list[str]
    expectations: list[dict[str, Any]]
    report: bool
    command: str
    scenario_source: str | None
    problem: str | None = None


# Comparison


class Compare(Asked):
    """`POST /api/compare`: runs, or two studies."""

    runs: list[str] = Field(default=[], max_length=1000)
    studies: list[str] = Field(default=[], max_length=2)


class Setting(Message):
    """A setting whose values differ."""

    key: str
    values: list[str]


class Figure(Message):
    """A figure of each run."""

    of: str
    measure: str
    unit: str
    values: list[float | None]


class ComparedRun(Message):
    """A column of a comparison."""

    id: str
    name: str
    verdict: str
    started_at: str
    engine: str


class ComparedRuns(Message):
    """Settings that differ, then figures. Single runs have no intervals."""

    runs: list[ComparedRun]
    settings: list[Setting]
    figures: list[Figure]
    problems: list[str]
    """Runs that are left out as they cannot be read: which file, why, and what to do."""


class ComparedRow(Message):
    """A metric of a cell of two studies, B against A."""

    metric: str
    unit: str
    place: list[str]
    of: str
    a: float
    b: float
    n_a: int
    n_b: int
    difference: float
    low: float | None
    high: float | None
    relative: float | None
    is_clear: bool


class ComparedStudies(Message):
    """Two studies: settings that differ, then metrics of the cells that both have."""

    studies: list[str]
    verdicts: list[str]
    settings: list[Setting]
    keys: list[str]
    rows: list[ComparedRow]
    only: list[int]
    """Cells that the other one lacks."""


class Curve(Message):
    """A line of a plot, thinned out."""

    label: str
    flow: str | None
    group: int | None
    light: str
    dark: str
    dash: list[int]
    t: list[float]
    y: list[float | None]
    drops: list[float]
    """Times at which the link has dropped packets, thinned out."""


class Series(Message):
    """`GET /api/runs/{id}/series?plot=&from=&to=`: a plot of the run's records; with a span, in seconds, only that."""

    plot: str
    title: str
    unit: str
    plots: dict[str, str]
    """All plots that there are: key -> title."""
    curves: list[Curve]
