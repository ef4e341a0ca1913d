"""Sources of the panels of an analysed capture: its largest directions, and single packets of some parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Final

import polars as pl

from dumbbell.captures import Capture
from dumbbell.captures.detail import Detail, Part, choose, read
from dumbbell.captures.directions import is_window_known, limits_ns
from dumbbell.captures.named import endpoint
from dumbbell.captures.rows import Connection, Direction
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.groups import MOST_FLOWS_IN_LEGEND, numbered
from dumbbell.report.model import Group

POINTS_PER_PAGE: Final = 110_000
"""Points of all curves: about 1 MB of the page."""
_CURVES_PER_WAY: Final = 16
_MOST_POINTS: Final = 4000
_LEAST_SHARE: Final = 0.001
"""A direction with a smaller share of the bytes of the largest one is not drawn: requests beside a download."""


@dataclass(frozen=True)
class Way:
    """A direction of a connection that is drawn."""

    connection: int
    direction: str
    group: int
    row: Direction = field(compare=False)
    """Its row in `directions`."""

    @property
    def flow(self) -> str:
        """Its name in tables: `3 to-server`."""
        return f"{self.connection} {self.direction}"

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Its rows of a table."""
        mine = (pl.col("connection") == self.connection) & (pl.col("direction").cast(pl.String) == self.direction)
        return frame.filter(mine)


@dataclass
class Source:
    """An analysed capture, and what all panels need to know of it."""

    capture: Capture
    ways: tuple[Way, ...]
    groups: tuple[Group, ...]
    detail: Detail | None
    parts: Sequence[Part]
    about: dict[int, Connection]
    """Rows of `connections` of those that are drawn, by number."""
    missing: list[str]
    """Sentences on what could not be drawn."""

    @cached_property
    def span_ns(self) -> int:
        """Length of the time axis."""
        return max(1, int(self.capture.summary["end_ns"]))

    @property
    def points(self) -> int:
        """Points that a curve may have."""
        return max(400, min(_MOST_POINTS, POINTS_PER_PAGE // (_CURVES_PER_WAY * max(1, len(self.ways)))))

    @cached_property
    def intervals(self) -> dict[str, pl.DataFrame]:
        """Rows of `intervals` by flow, of the directions that are drawn."""
        return self._of_ways("intervals")

    @cached_property
    def rtt(self) -> dict[str, pl.DataFrame]:
        """Rows of `rtt` by flow."""
        return self._of_ways("rtt")

    @cached_property
    def gaps(self) -> dict[str, pl.DataFrame]:
        """Rows of `gaps` by flow."""
        return self._of_ways("gaps")

    @cached_property
    def events(self) -> dict[str, pl.DataFrame]:
        """Rows of `events` by flow."""
        return self._of_ways("events")

    def _of_ways(self, table: str) -> dict[str, pl.DataFrame]:
        rows = self.capture.rows(table, {way.connection for way in self.ways})
        return {way.flow: way.of(rows) for way in self.ways}


def source(capture: Capture, parts: Sequence[Part] | None = None, only: Sequence[int] | None = None) -> Source:
    """Choose what is drawn, of connections `only` or of all, and read the packets of `parts`, which are chosen, too, if
    they are `None`."""
    largest = capture.largest(MOST_FLOWS_IN_LEGEND, only)
    least = _LEAST_SHARE * largest[0]["payload_bytes"] if largest else 0
    chosen = sorted(
        (row for row in largest if row["payload_bytes"] >= least),
        key=lambda row: (row["connection"], row["direction"]),
    )
    about = capture.about(row["connection"] for row in chosen)
    ways, groups = [], []
    for index, row in enumerate(chosen):
        way = Way(row["connection"], str(row["direction"]), index, row)
        ways.append(way)
        groups.append(
            numbered(index, f"{way.connection} {words_of(about[way.connection], way.direction)}", (way.flow,))
        )
    missing: list[str] = []
    wanted = list(choose(capture, chosen) if parts is None else parts)
    detail = None
    try:
        detail = read(capture, wanted) if wanted else None
    except InputError as error:
        missing.append(f"Single packets: {error.what}{f' ({error.why})' if error.why else ''}.")
    return Source(capture, tuple(ways), tuple(groups), detail, wanted, about, missing)


def words_of(connection: Connection, direction: str) -> str:
    """`10.0.0.1:40000 → 10.0.0.2:80`, with the network if it has one: `(802.1Q 10)`."""
    ends = [endpoint(connection, side) for side in ("client", "server")]
    network = f" ({connection['network']})" if connection["network"] else ""
    return " → ".join(ends if direction == "to-server" else reversed(ends)) + network


def place_of(connection: Connection) -> str:
    """`client`: where the capture was taken; `client, as said` if the user said so."""
    place = connection["place"]
    if place is None:
        return words.UNKNOWN
    return f"{place}, as said" if connection["place_by"] == "said" else str(place)


def limited_by(row: Direction) -> str:
    """`window 63 %`: what held a direction back for the longest time; a dash if it is not known."""
    limits = limits_ns(row)
    whole = sum(limits.values())
    if not whole:
        return words.UNKNOWN
    most = max(limits, key=lambda name: limits[name])
    named = "network or window" if most == "network" and not is_window_known(row) else most
    return f"{named} {100 * limits[most] / whole:.0f} %"
