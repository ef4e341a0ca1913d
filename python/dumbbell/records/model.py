"""The content of `manifest.json` and `summary.json`: each is checked once, when it is read.

Keys of other versions stay. A figure that a summary of an earlier version lacks is null.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter
from typing_extensions import TypedDict

from dumbbell import names
from dumbbell.documents import read_as
from dumbbell.plan import wire
from dumbbell.records.columns import FIGURES

MANIFEST: Final = "manifest.json"
SUMMARY: Final = "summary.json"
STRICT: Final = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)
"""The configuration of documents: no value changes its type."""

_LARGEST: Final = 2**64 - 1
Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST)]
"""Bounded, so that sums and quotients of figures are finite."""
Count = Annotated[int, Field(ge=0, le=_LARGEST)]
_T = TypeVar("_T")
Items = Annotated[list[_T], Field(fail_fast=True)]
"""A list that is read up to its first wrong item: errors of all of a stranger's would fill the memory."""
Verdict = Literal["valid", "suspect", "invalid"]
_Table = dict[str, Any]

_DICT: Any = TypedDict
"""Declares a type whose fields are data here, which type checkers cannot follow."""
_KINDS: Final[dict[str, Any]] = {"f64": Number, "u64": Count, "u16": Count, "bool": bool, "str": str}
_NEEDED: Final = ("id", "label", "from", "to", "protocol", "name")
"""Figures that every version wrote."""
_ALWAYS: Final = ("rtt_ms",)
"""Groups that a summary has even if nothing is known of them."""


def _figures(of: str, more: dict[str, Any]) -> Any:
    """The type of a flow or a link in the summary: its declared figures, and `more`."""
    fields: dict[str, Any] = {}
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for place, kind in FIGURES[of].items():
        key, _, inner = place.partition(".")
        if inner:
            groups[key][inner] = kind
        else:
            fields[key] = str if key in _NEEDED else _field(kind)
    for key, kinds in groups.items():
        group = _DICT(key, {inner: _field(kind) for inner, kind in kinds.items()})
        optional = key not in _ALWAYS and any(kind.endswith("?") for kind in kinds.values())
        fields[key] = _or_null(group) if optional else group
    return _DICT(of, fields | more)


def _field(kind: str) -> Any:
    found = _KINDS[kind.removesuffix("?")]
    return _or_null(found) if kind.endswith("?") else Annotated[found, Field(default=None)]


def _or_null(kind: Any) -> Any:
    return Annotated[kind | None, Field(default=None)]


class Tool(TypedDict, total=False):
    """The versions that wrote a run."""

    dumbbell: str | None
    core: str | None
    python: str | None


class Machine(TypedDict, total=False):
    """The machine on which it ran; see `dumbbell.machine`."""

    kernel: str | None
    distribution: str | None
    cpu_model: str | None
    clocksource: str | None
    cores: Count | None
    memory_bytes: Count | None
    hypervisor: bool | None
    load_average: Items[Number] | None


class AcksOfLab(TypedDict, total=False):
    """Whether the lab could record acknowledgements."""

    recorded: bool
    why: str | None


class Lab(TypedDict, total=False):
    """Facts of an engine's lab."""

    rootless: bool
    acks: AcksOfLab | None


class Kernel(TypedDict, total=False):
    """The kernel of a run that has one of its own."""

    version: str | None


class Cost(TypedDict, total=False):
    """Cost of simulating; other engines have keys of their own."""

    simulated_s: Number | None
    wall_s: Number | None
    times_real_time: Number | None


def _is_source(table: _Table) -> _Table:
    wire.source(table)
    return table


class Loaded(TypedDict):
    """A congestion control that is not the kernel's own."""

    label: str
    source: Annotated[_Table, AfterValidator(_is_source)]
    parameters: dict[str, bool | Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]]
    registered: NotRequired[str | None]
    source_sha256: NotRequired[str | None]
    loaded: NotRequired[str | None]


class Manifest(TypedDict, total=False):
    """`manifest.json`: what was run, when, on what machine, and what measuring cost."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    schema: int | None
    status: Literal["running", "complete", "failed", "interrupted"]
    reason: str | None
    name: str
    run_id: str
    engine: str
    started_at: str
    command: Items[str]
    scenario_source: str | None
    overrides: Items[str] | None
    tags: Items[Annotated[str, StringConstraints(pattern=names.PATTERN)]]
    tool: Tool | None
    machine: Machine | None
    wall_s: Number | None
    algorithms: Items[Loaded] | None
    path: str | None
    lab: Lab | None
    kernel: Kernel | None
    cost: Cost | None


class Check(TypedDict):
    """A check of the verdict."""

    check: str
    verdict: Verdict
    measured: str
    threshold: str
    why: str


class Outage(TypedDict):
    """The longest time in which nothing of a flow arrived."""

    flow: str
    outage_s: Number
    recovered: bool


class Rerouting(TypedDict):
    """Effects of an event that makes routers look for other routes."""

    at_s: Number
    events: Items[str]
    converged_s: Number | None
    changes: Count
    routers: Count
    lost_packets: Count | None
    looped_packets: Count | None
    outages_s: Items[Outage] | None


class Responsiveness(TypedDict):
    """Round trips per minute."""

    rpm: Number
    foreign_rpm: Number
    loaded_rpm: Number


class Attempts(TypedDict, total=False):
    """Other runs of the same plan."""

    failed: Count
    excluded: Count


_Null = Field(default=None)
_Flow: Any = _figures("flow", {"base_rtt_ms": _or_null(Number), "error": _or_null(str), "udp": _or_null(_Table)})
_Link: Any = _figures("link", {"rate_bps": _or_null(Count)})


class Summary(TypedDict):
    """`summary.json`: the verdict, and the figures of flows and links."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    verdict: Verdict
    reasons: Items[Check]
    checks: Items[Check]
    duration_s: Number
    flows: Items[_Flow]
    links: Items[_Link]
    jain_index: Annotated[Number | None, _Null]
    jain_window_s: Annotated[Annotated[Items[Number], Field(min_length=2, max_length=2)] | None, _Null]
    responsiveness: Annotated[Responsiveness | None, _Null]
    rerouting: Annotated[Items[Rerouting] | None, _Null]
    attempts: Annotated[Attempts | None, _Null]


_MANIFEST: Final = TypeAdapter(Manifest)
_SUMMARY: Final = TypeAdapter(Summary)
REMOVE: Final = "remove the run, and repeat it"
AGAIN: Final = "repeat the run with this version"


def manifest(directory: Path, given: bytes | None = None) -> dict[str, Any]:
    """The manifest of the run in `directory`; `given` are its bytes, if they are known. Raises `DumbbellError`."""
    found: Any = read_as(f"{directory}/{MANIFEST}", _MANIFEST, REMOVE, given)
    return dict(found)


def summary(directory: Path, given: bytes | None = None) -> dict[str, Any]:
    """The summary, likewise."""
    found: Any = read_as(f"{directory}/{SUMMARY}", _SUMMARY, AGAIN, given)
    return dict(found)
