"""The directory of an analysed capture."""

from __future__ import annotations

from functools import cached_property
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SUMMARY: Final = "capture.json"
TABLES: Final = ("connections", "directions", "intervals", "rtt", "events")


class Capture:
    """An analysed capture. Times in its tables are ns from its first TCP segment, `summary["origin_ns"]` since 1970."""

    def __init__(self, directory: Path) -> None:
        """Open what `dumbbell pcap` wrote. Raises `InputError` if `directory` is no such."""
        self.directory = Path(directory)
        try:
            self.summary: dict[str, Any] = loads((self.directory / SUMMARY).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{directory} is no analysed capture", str(error), "dumbbell pcap FILE makes one"
            ) from None

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(self.directory / f"{name}.parquet")

    @cached_property
    def connections(self) -> pl.DataFrame:
        """A row for each connection, in the order of their first packets."""
        return self._table("connections").sort("connection")

    @cached_property
    def directions(self) -> pl.DataFrame:
        """A row for each direction of a connection with its counters and figures."""
        return self._table("directions").sort("connection", maintain_order=True)

    @cached_property
    def intervals(self) -> pl.DataFrame:
        """A row for each direction with data and interval with traffic."""
        return self._table("intervals").sort("connection", "start_ns", maintain_order=True)

    @cached_property
    def rtt(self) -> pl.DataFrame:
        """The least and the largest RTT of each 10 ms and direction."""
        return self._table("rtt").sort("connection", "time_ns", maintain_order=True)

    @cached_property
    def events(self) -> pl.DataFrame:
        """Repeats, filled holes, probes and losses of the capture: what they are, and why."""
        return self._table("events").sort("connection", "time_ns", maintain_order=True)

    @cached_property
    def warnings(self) -> list[str]:
        """What limits the figures, the worst first."""
        from dumbbell.captures.warnings import of

        return of(self.summary, self.connections, self.directions)
