"""Facts about flows that only a study's plans have, kept for the figures that need them.

A row per cell, entry of the scenario's `flows`, and pair of hosts that it joins.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dumbbell import parquet
from dumbbell.errors import DamagedFile
from dumbbell.outputs import write_parquet
from dumbbell.plan.network import network
from dumbbell.plan.parts import group, size
from dumbbell.plan.types import Plan
from dumbbell.records import files
from dumbbell.units.mtu import IP, frame_bytes

if TYPE_CHECKING:
    import polars as pl

FILE: Final = "entries.parquet"
PLANNED: Final = ("base_rtt_ms", "has_size", "frame_bytes", "ip_header_bytes")
"""Columns that this module adds to flows."""
_JOINED: Final = ("cell", "group", "from", "to")


class Entry(NamedTuple):
    """Flows that have the same path."""

    group: str
    from_: str
    to: str
    base_rtt_ms: float
    """The least RTT that the path allows at any time, without serialisation and queues."""
    has_size: bool
    """True if the flows end after a number of bytes."""
    frame_bytes: int
    """Bytes of a full frame on the path."""
    ip_header_bytes: int
    """Bytes of the header of the flows' version of IP."""


def of(plan: Plan) -> set[Entry]:
    """The entries of a run."""
    found = network(plan)
    return {
        Entry(
            group(flow),
            flow.from_,
            flow.to,
            found.least_rtt_ns(flow) / 1e6,
            size(flow) is not None,
            frame_bytes(found.path(flow).mtu),
            IP[flow.ip],
        )
        for flow in plan.flows
    }


def write(study: Path, cells: Sequence[Sequence[Entry]]) -> None:
    """Keep the entries of each cell; entries on disk stay as they are."""
    import polars as pl

    rows = [(cell, *entry) for cell, entries in enumerate(cells) for entry in entries]
    found, path = pl.DataFrame(rows, schema=_schema(), orient="row"), study / FILE
    if path.exists() and not files.unreadable(path, whole=True) and parquet.read(path).equals(found):
        return
    write_parquet(found, path)


def joined(study: Path, flows: pl.LazyFrame) -> pl.LazyFrame:
    """`flows`, each with the columns `PLANNED` of its entry."""
    import polars as pl

    path = study / FILE
    if why := files.unreadable(path, whole=True):
        said = f"{path} cannot be read ({why}): metrics that need it are left out. The study's command writes it again"
        warnings.warn(said, DamagedFile, stacklevel=2)
        known = pl.LazyFrame(schema=_schema())
    else:
        known = parquet.scan(path)
    # Joins would multiply rows that a stranger repeats.
    known = known.unique(_JOINED, keep="first", maintain_order=True)
    return flows.join(known, on=_JOINED, how="left", maintain_order="left")


def _schema() -> dict[str, Any]:
    import polars as pl

    types = (pl.UInt32, pl.String, pl.String, pl.String, pl.Float64, pl.Boolean, pl.UInt32, pl.UInt32)
    return dict(zip((*_JOINED, *PLANNED), types, strict=True))
