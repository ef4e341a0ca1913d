"""The content of `capture.json`: it is checked once, when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar, cast

from pydantic import ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from dumbbell.documents import read_as

SUMMARY: Final = "capture.json"
_T = TypeVar("_T")
_Items = Annotated[list[_T], Field(fail_fast=True)]
"""A list that is read up to its first wrong item, as those of runs."""
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Time = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class Protocol(TypedDict):
    """Packets of a protocol other than TCP."""

    name: str
    packets: _Count
    bytes: _Count


class Notes(TypedDict):
    """Remarks on the files."""

    frames: _Count
    headless_frames: _Count
    unknown_links: _Items[Annotated[list[_Count], Field(min_length=2, max_length=2)]]
    cut_files: _Count
    damages: _Count
    capture_drops: _Count
    backward_steps: _Count
    largest_backward_step_ns: _Time
    overlapping_files: _Count
    others: _Items[Protocol]


class Between(TypedDict):
    """Where a second capture was taken, and how its clock differs."""

    first_is_nearer: bool
    offset_ns: _Time | None


class Summary(TypedDict):
    """`capture.json`: what was analysed, and what there is to say of it beside its tables."""

    __pydantic_config__ = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)  # type: ignore[misc]

    files: Annotated[_Items[str], Field(min_length=1)]
    digests: NotRequired[_Items[str]]
    """Digest of each file (`captures.files`). Without them, the files are not read again."""
    only: _Items[str]
    decode_as: _Items[str]
    at: Literal["sender", "receiver", "middle"] | None
    origin_ns: _Time
    end_ns: _Time
    """Time of the last packet, from the first on: before that, if the clock was set back."""
    interval_ns: Annotated[int, Field(gt=0, lt=2**63)]
    segments: _Count
    connections: _Count
    evicted: _Count
    notes: Notes
    interfaces: NotRequired[_Items[str | None]]
    segments_of_connections: NotRequired[_Count]
    segments_incomplete: NotRequired[bool]
    between: NotRequired[Between]


_SUMMARY: Final = TypeAdapter(Summary)


def summary(directory: Path) -> Summary:
    """The summary of the analysed capture in `directory`. Raises `DumbbellError`."""
    found: Any = read_as(directory / SUMMARY, _SUMMARY, "repeat dumbbell pcap FILE")
    return cast(Summary, dict(found))
