"""The directory of an analysed capture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from dumbbell import inputs, outputs, parquet
from dumbbell.captures import model
from dumbbell.captures.model import SUMMARY
from dumbbell.captures.rows import Connection, Direction
from dumbbell.errors import Damaged, InputError

if TYPE_CHECKING:
    import polars as pl

TABLES: Final = ("connections", "directions", "intervals", "rtt", "events", "gaps")
KEPT: Final = "segments_of_connections"
"""In the summary: the number of connections of which every packet is a row."""
INCOMPLETE: Final = "segments_incomplete"
"""In the summary: true if packets of these connections are missing, which standard input does not give again."""
MOST_CONNECTIONS: Final = 1 << 20
"""Connections that are followed at once."""


def is_capture(directory: Path) -> bool:
    """True if a directory holds an analysed capture."""
    return (directory / SUMMARY).is_file()


class Capture:
    """An analysed capture. Times in its tables are ns from its first TCP segment, `summary["origin_ns"]` since 1970."""

    def __init__(self, directory: Path) -> None:
        """Open what `dumbbell pcap` wrote. Raises `DumbbellError` if `directory` is no such, or is damaged."""
        self.directory = Path(directory)
        try:
            inputs.check_files(self.directory)
        except OSError as error:
            raise InputError(
                f"{directory} is not an analysed capture", str(error), "dumbbell pcap FILE makes one"
            ) from None
        self.summary = model.summary(self.directory)

    def note(self, key: str, value: object) -> None:
        """Keep something in the summary."""
        self.summary = cast(model.Summary, self.summary | {key: value})
        outputs.write(self.directory / SUMMARY, dumps(self.summary, indent=2) + "\n")

    @property
    def name(self) -> str:
        """The name of its first file, without directory."""
        first = str(self.summary["files"][0])
        return "standard input" if first == "-" else Path(first).name

    def scan(self, name: str) -> pl.LazyFrame:
        """One of `TABLES`, lazily. Raises `DumbbellError` if it is missing."""
        path = self.directory / f"{name}.parquet"
        if not path.is_file():
            raise Damaged(f"{path} is missing", "the analysis of a capture writes it", "repeat dumbbell pcap")
        try:
            return parquet.scan(path)
        except parquet.errors() as error:
            raise Damaged(f"{path} cannot be read", parquet.why(error), "repeat dumbbell pcap") from error

    def _table(self, name: str) -> pl.DataFrame:
        return self.scan(name).collect()

    @cached_property
    def connections(self) -> pl.DataFrame:
        """A row for each connection, in the order of their first packets."""
        return self._table("connections").sort("connection")

    def largest(self, count: int, of: Sequence[int] | None = None) -> list[Direction]:
        """Rows of `directions` with the most payload, the largest first; of some connections, or of all. It reads no
        others, not even of a million."""
        import polars as pl

        keys = ["connection", "direction"]
        is_of = pl.lit(True) if of is None else pl.col("connection").is_in(list(of))
        ranked = (
            self.scan("directions")
            .filter(is_of & (pl.col("payload_bytes") > 0))
            .select(*keys, "payload_bytes")
            .sort("payload_bytes", "connection", descending=[True, False])
            .head(count)
            .collect()
        )
        rows = self.scan("directions").filter(pl.col("connection").is_in(ranked["connection"].to_list())).collect()
        return cast(
            list[Direction], ranked.select(keys).join(rows, on=keys, how="left", maintain_order="left").to_dicts()
        )

    def numbers(self, most: int | None = None) -> list[int]:
        """Numbers of the `most` connections with the most payload in a direction, the largest first; else of all."""
        if most is None:
            return [int(number) for number in self.connections["connection"]]
        # Of each connection there are two directions at most.
        return list(dict.fromkeys(row["connection"] for row in self.largest(2 * most)))[:most]

    def total(self, table: str, *columns: str, connection: int | None = None) -> tuple[int, ...]:
        """Sums of columns of a table, which is not read whole: of one connection, or of all."""
        import polars as pl

        rows = self.scan(table)
        if connection is not None:
            rows = rows.filter(pl.col("connection") == connection)
        (row,) = rows.select(pl.col(name).sum() for name in columns).collect().rows()
        return tuple(int(value or 0) for value in row)

    def places(self) -> dict[str, int]:
        """Where the capture was taken, with the number of connections that say so, the most frequent first."""
        import polars as pl

        of = self.scan("connections").select(pl.col("place").cast(pl.String)).drop_nulls().group_by("place").len()
        return dict(of.sort("len", "place", descending=[True, False]).collect().rows())

    def about(self, numbers: Iterable[int]) -> dict[int, Connection]:
        """Rows of `connections` by number, of those that are named."""
        return {row["connection"]: cast(Connection, row) for row in self.rows("connections", numbers).to_dicts()}

    def rows(self, table: str, numbers: Iterable[int]) -> pl.DataFrame:
        """Rows of some connections, in the order of connection and time. It keeps no others of a large table."""
        import polars as pl

        frame = self.scan(table).filter(pl.col("connection").is_in(list(numbers))).collect()
        time = next((name for name in ("time_ns", "start_ns") if name in frame.columns), "connection")
        return frame.sort("connection", time, maintain_order=True)

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
        """The least and the largest RTT of each 10 ms, direction and kind."""
        return self._table("rtt").sort("connection", "time_ns", maintain_order=True)

    @cached_property
    def gaps(self) -> pl.DataFrame:
        """For each direction how many times between packets with data are how long."""
        return self._table("gaps").sort("connection", maintain_order=True)

    @cached_property
    def events(self) -> pl.DataFrame:
        """Repeats, filled holes, probes and losses of the capture: what they are, and why."""
        return self._table("events").sort("connection", "time_ns", maintain_order=True)

    @cached_property
    def warnings(self) -> list[str]:
        """Limits of the figures, the worst first."""
        from dumbbell.captures.warnings import of

        return of(self.summary, self.total)

    def warnings_of(self, number: int) -> list[str]:
        """Limits of the figures of a connection, and of the whole file, the worst first."""
        from dumbbell.captures.warnings import of

        return of(self.summary, partial(self.total, connection=number))
