"""The content of a study's documents: each is checked once, when it is read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter
from typing_extensions import TypedDict

from dumbbell.documents import read_as
from dumbbell.errors import Damaged
from dumbbell.records.model import STRICT, Count, Items, Kernel, Machine, Number, Tool
from dumbbell.statistics.verdicts import Answer
from dumbbell.studies.directory import MANIFEST


def _is_value(value: object) -> object:
    is_number = isinstance(value, int) and -(2**63) <= value < 2**63
    if is_number or (isinstance(value, float) and abs(value) < 2**64) or isinstance(value, str | list | dict):
        return value
    raise ValueError("it is no value of a key")


Value = Annotated[Any, AfterValidator(_is_value)]
"""The value of a varied key in a cell: a truth value, a number, a text, a list or a table."""
AGAIN: Final = "repeat the study's command: it keeps the finished runs and writes this file anew"


class TooWide(TypedDict):
    """A cell whose interval is wider than asked for."""

    cell: Count
    n: Count
    half_width: Number | None


class Repeat(TypedDict, total=False):
    """How often cells are repeated, as the scenario says it."""

    until: Any
    of: str
    most: Count


class Expected(TypedDict):
    """The outcome of an expectation."""

    expectation: str
    answer: Literal[tuple(str(one) for one in Answer)]  # type: ignore[valid-type]
    why: str


class Cost(TypedDict, total=False):
    """Cost of the latest command."""

    found: Count
    redone: Count
    cured: Count
    times_real_time: Number | None


class Manifest(TypedDict):
    """`study.json`: what is varied, how often, by which version, on what machine, and how far it is."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    name: str
    engine: str
    status: str
    cells: Items[dict[str, Value]]
    runs: Annotated[int, Field(ge=0, lt=2**53)]
    repetitions: Annotated[int, Field(ge=0, lt=2**32)]
    rounds: NotRequired[Items[Annotated[list[Any], Field(min_length=2, max_length=2)]]]
    repeat: NotRequired[Repeat]
    started_at: NotRequired[str]
    continued_at: NotRequired[str | None]
    scenario_source: NotRequired[str | None]
    starts_ns: NotRequired[Count | None]
    equal: NotRequired[Items[str]]
    equal_cells: NotRequired[Items[Items[Count]]]
    too_wide: NotRequired[Items[TooWide]]
    expectations: NotRequired[Items[Expected]]
    cost: NotRequired[Cost]
    tool: NotRequired[Tool | None]
    machine: NotRequired[Machine | None]
    kernel: NotRequired[Kernel | None]


class Part(TypedDict):
    """A folder of figures."""

    name: Annotated[str, StringConstraints(pattern="^[0-9]{1,20}$")]
    runs: Count


class Index(TypedDict):
    """`shards/index.json`."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    parts: Items[Part]


class RefusedRun(TypedDict):
    """A run that was given up, as a row of `runs`."""

    run: Count
    run_id: str
    cell: Annotated[int, Field(ge=0, lt=2**32)]
    repetition: Annotated[int, Field(ge=0, lt=2**32)]
    seed: Count
    error: str
    verdict: Annotated[str | None, Field(default=None)]


class Refused(TypedDict):
    """`refused.json`."""

    __pydantic_config__ = ConfigDict(strict=True, extra="ignore")  # type: ignore[misc]

    runs: Items[RefusedRun]


class Progress(TypedDict):
    """`progress.json`: the latest event of progress."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    runs: Count
    of: Count
    failed: Count
    at: Annotated[datetime, Field(strict=False)]
    found: NotRequired[Count]
    wall_s: NotRequired[Number | None]
    left_s: NotRequired[Number | None]


_MANIFEST: Final = TypeAdapter(Manifest)
INDEX: Final = TypeAdapter(Index)
REFUSED: Final = TypeAdapter(Refused)
_PROGRESS: Final = TypeAdapter(Progress)


def manifest(study: Path) -> dict[str, Any]:
    """The manifest of the study in a directory. Raises `DumbbellError`."""
    path = study / MANIFEST
    found: Any = read_as(path, _MANIFEST, AGAIN)
    if strange := [one for one in found.get("too_wide", ()) if one["cell"] >= len(found["cells"])]:
        raise Damaged(f"{path} cannot be read", f"too_wide: there is no cell {strange[0]['cell']}", AGAIN)
    if found.get("too_wide") and not {"until", "of", "most"} <= found.get("repeat", {}).keys():
        raise Damaged(f"{path} cannot be read", "too_wide: repeat does not say what was wanted", AGAIN)
    return dict(found)


def progress(path: Path) -> dict[str, Any]:
    """The progress of a study that goes on. Raises `DumbbellError`."""
    found: Any = read_as(path, _PROGRESS)
    return dict(found)
