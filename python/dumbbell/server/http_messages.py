"""Messages of requests that are about no open document: files, imports, plans, facts. `messages` has the base."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dumbbell.server.messages import Asked, Layout, Message, Problem


class Login(Asked):
    """`POST /api/login`: the token of the URL's fragment. The answer sets the cookie."""

    token: str = Field(max_length=200)


class Engine(Message):
    """An engine that runs scenarios."""

    name: str
    description: str
    real_time: bool
    """True if it works by this machine's clock and kernel."""


class About(Message):
    """`GET /api/about`."""

    version: str
    core: str
    """The compiled core's version."""
    assets: str
    """The page's version: if it is another than the page's own, reload."""
    workspace: str
    """Absolute path."""
    engines: list[Engine]
    algorithms: list[str]
    """Congestion controls that come with dumbbell or that this kernel has, for completion."""
    root: bool
    """True if the server runs as root."""


class Check(Message):
    """`GET /api/doctor`: one thing that this machine can do or lacks."""

    name: str
    state: str
    """`ok`, `missing`, ..."""
    text: str
    fix: str = ""


class FileEntry(Message):
    """A file or a folder of the workspace."""

    path: str
    name: str
    kind: Literal["folder", "scenario", "run", "study", "file"]
    bytes: int | None = None
    modified: float
    """Seconds since 1970."""
    title: str = ""
    """A scenario's description."""


class Files(Message):
    """`GET /api/files?dir=`."""

    dir: str
    entries: list[FileEntry]


class NewFile(Asked):
    """`POST /api/files`: a scenario from a text or from a template. Refused if the path exists."""

    do: Literal["new"] = "new"
    path: str
    text: str | None = Field(default=None, max_length=2_000_000)
    layout: Layout | None = None
    template: str | None = None
    foreign: bool = False
    """True if the text came from elsewhere: its programs are asked about before they run."""


class CopyFile(Asked):
    """`POST /api/files`: copy a file with its layout."""

    do: Literal["copy"] = "copy"
    path: str
    to: str


class RenameFile(Asked):
    """`POST /api/files`: rename a file with its layout. Open documents follow."""

    do: Literal["rename"] = "rename"
    path: str
    to: str


class DeleteFile(Asked):
    """`POST /api/files`: move a file with its layout to the folder `.trash`."""

    do: Literal["delete"] = "delete"
    path: str


class NewFolder(Asked):
    """`POST /api/files`: make a folder."""

    do: Literal["folder"] = "folder"
    path: str


FileChange = Annotated[NewFile | CopyFile | RenameFile | DeleteFile | NewFolder, Field(discriminator="do")]


class Template(Message):
    """`GET /api/templates`: something to begin with."""

    name: str
    title: str
    group: Literal["start", "bundled"]
    """`start`: small networks to draw on; `bundled`: the scenarios that come with dumbbell."""
    nodes: int
    links: int


class Import(Asked):
    """`POST /api/import`: a network of another tool. Nothing is written."""

    format: Literal["mn", "containerlab", "kathara", "mahimahi", "toml", "auto"] = "auto"
    name: str
    """The file's name."""
    text: str | None = Field(default=None, max_length=8_000_000)
    """The file's text; null: `path` in the workspace is read, which may be a folder."""
    path: str | None = None
    routers: Literal["static", "frr"] = "static"
    """Routing of routers without a configuration: shortest paths, or FRRouting's daemons, which wait for one."""


class Imported(Message):
    """The scenario that an import gives, and what it could not take over."""

    name: str
    """A path for it that is free."""
    text: str
    layout: Layout | None
    notes: list[str]
    unconfigured: list[str]
    """Routers without a configuration, which `routers` is about."""


class Exported(Message):
    """`GET /api/export?path=&as=`: a file for another tool, and what that can't say."""

    name: str
    text: str
    notes: list[str]


class PlanRequest(Asked):
    """`POST /api/plan`: plan a text or a file, with other values."""

    path: str | None = None
    text: str | None = Field(default=None, max_length=2_000_000)
    overrides: dict[str, Any] = Field(default={})
    """Dotted keys as `--set` takes them: `{"topology.bottleneck.rate": "5 Mbit/s"}`."""
    engine: str | None = None


class PlanTable(Message):
    """A table of the plan, as `dumbbell plan` prints it."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class Planned(Message):
    """The plan, or why there is none."""

    plan: dict[str, Any] | None
    """Plan, as in `plan.json`."""
    problems: list[Problem]
    lacks: list[Problem]
    tables: list[PlanTable]
    command: str
    """The same by the command line: `dumbbell run mine.toml --set ...`."""


# Configurations of routers


class Configuration(Message):
    """`GET /api/configuration`: the configuration with which a router's daemons start."""

    file: str
    """The file, as the scenario names it or is to name it."""
    text: str
    is_written: bool
    """True if the scenario names the file; else the text follows from the router's other keys."""


class CheckConfiguration(Asked):
    """`POST /api/configuration/check`."""

    router: str = Field(max_length=200)
    text: str = Field(max_length=1_000_000)


class SaveConfiguration(CheckConfiguration):
    """`POST /api/configuration`: write it beside the scenario."""

    path: str


class ConfigurationCheck(Message):
    """FRR's answer."""

    is_checked: bool
    """False if this machine has no FRRouting."""
    line: int | None
    """The first line that FRR does not understand, from 1; null: it understands all."""
    said: str
