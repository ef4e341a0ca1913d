"""Single packets of an analysed capture, where they matter: its files are read once more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from json import loads
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from dumbbell import parquet
from dumbbell.caller import give
from dumbbell.captures.capture import INCOMPLETE, KEPT, MOST_CONNECTIONS, Capture
from dumbbell.captures.files import unchanged
from dumbbell.captures.rows import Direction
from dumbbell.core import core
from dumbbell.errors import InputError, unwritable
from dumbbell.frozen import dataclass

if TYPE_CHECKING:
    import polars as pl

MOST_PACKETS: Final = 30_000
"""Packets of all parts that are chosen for a report."""
ASKED: Final = "asked for"
"""Why a part that a user names is drawn."""
_TABLES: Final = ("segments", "sacks")
_UNKNOWN_RTT_NS: Final = 100_000_000
_EPISODES: Final = 3
"""Loss episodes of a direction that are chosen, the first ones."""
_LONGEST_RTTS: Final = 40


@dataclass(frozen=True)
class Part:
    """A part of a connection's time."""

    connection: int
    from_ns: int
    to_ns: int
    why: str


@dataclass(frozen=True)
class Detail:
    """Rows of single packets and of their SACK blocks, each in the order of time."""

    segments: pl.DataFrame
    sacks: pl.DataFrame
    left_out: int
    """Packets of the parts that are no rows."""


def read(capture: Capture, parts: Sequence[Part], most: int = 1 << 62) -> Detail:
    """Read the files of `capture` again. The rows go to its directory, too, unless `keep` has put others there.

    Raises:
        InputError: the files are gone, have changed since the analysis, or were standard input.
    """

    with _again(capture, parts, most) as (folder, left_out):
        place = folder
        if not capture.summary.get(KEPT):
            place = capture.directory
            _move(folder, place)
        frames = [parquet.read(place / f"{name}.parquet").sort("time_ns", maintain_order=True) for name in _TABLES]
    return Detail(frames[0], frames[1], left_out)


def keep(capture: Capture, numbers: Sequence[int]) -> None:
    """Write a row for each packet of these connections to the directory. Raises `InputError` as `read` does."""
    parts = [Part(number, 0, (1 << 62), ASKED) for number in numbers]
    with _again(capture, parts, 1 << 62) as (folder, _):
        _move(folder, capture.directory)
    capture.note(KEPT, len(numbers))
    if capture.summary.get(INCOMPLETE):
        capture.note(INCOMPLETE, value=False)


def _move(folder: Path, place: Path) -> None:
    for name in _TABLES:
        (folder / f"{name}.parquet").replace(place / f"{name}.parquet")
        give(place / f"{name}.parquet")


@contextmanager
def _again(capture: Capture, parts: Sequence[Part], most: int) -> Iterator[tuple[Path, int]]:
    """A folder with the tables of `parts`, while it is needed, and how many packets are left out."""
    files = unchanged(capture)
    try:
        folder = Path(mkdtemp(prefix=".partial-", dir=capture.directory))
    except OSError as error:
        raise unwritable(capture.directory, error) from None
    try:
        wanted = [(part.connection, part.from_ns, part.to_ns) for part in parts]
        only, as_said = capture.summary["only"], capture.summary["decode_as"]
        try:
            told = core.capture_segments(files, only, as_said, folder, MOST_CONNECTIONS, wanted, most, lambda *_: None)
        except (RuntimeError, ValueError) as error:  # `decode_as` of a damaged summary may be none.
            raise InputError("the capture cannot be read again", str(error)) from None
        found = loads(told)
        if found["all"] != capture.summary["segments"]:
            raise InputError(
                f"{files[0]} has changed since it was analysed",
                f"it has {found['all']:,} TCP packets, and had {capture.summary['segments']:,}",
                "repeat dumbbell pcap",
            )
        yield folder, int(found["left_out"])
    finally:
        rmtree(folder, ignore_errors=True)


def choose(capture: Capture, directions: Sequence[Direction], most: int = MOST_PACKETS) -> list[Part]:
    """Where full detail matters, of rows of `directions`: the start, the first losses, the largest RTT.

    Each part has two RTTs before and behind, and is cut where it would have more than its share of `most` packets.
    """
    import polars as pl

    keys = [(row["connection"], row["direction"]) for row in directions]
    numbers = {connection for connection, _ in keys}
    events, rtt, intervals = (capture.rows(table, numbers) for table in ("events", "rtt", "intervals"))
    share = most / max(1, len(keys)) / (_EPISODES + 2)
    parts: list[Part] = []
    for row, (connection, direction) in zip(directions, keys, strict=True):
        mine = (pl.col("connection") == connection) & (pl.col("direction") == direction)
        of = intervals.filter(mine)
        if of.is_empty():
            continue
        around = 2 * int(row["rtt_p50_ns"] or _UNKNOWN_RTT_NS)
        busiest = float(of["packets"].max() or 1)  # type: ignore[arg-type]
        # Two packets with data may come with an ACK.
        per_ns = 1.5 * busiest / capture.summary["interval_ns"]
        longest = int(min(_LONGEST_RTTS * around / 2, share / per_ns))
        start = row["start_ns"] or 0
        parts.append(Part(connection, start, start + longest, "start"))
        resent = events.filter(mine & pl.col("cause").is_not_null() & (pl.col("bytes") > 0))["time_ns"]
        for begin, end in _episodes(resent.to_list(), around):
            parts.append(Part(connection, begin - around, min(end + around, begin - around + longest), "losses"))
        slow = rtt.filter(mine & (pl.col("kind").cast(pl.String) == "data"))
        if not slow.is_empty():
            at = int(slow["time_ns"][slow["rtt_ns"].arg_max() or 0])
            parts.append(Part(connection, at - longest // 2, at + longest // 2, "largest RTT"))
    return parts


def _episodes(times: Iterable[int], apart_ns: int) -> list[tuple[int, int]]:
    """The first and last times of the first groups of times that are nearer to one another than `apart_ns`."""
    found: list[tuple[int, int]] = []
    for time in times:
        if found and time - found[-1][1] < apart_ns:
            found[-1] = (found[-1][0], time)
        elif len(found) == _EPISODES:
            break
        else:
            found.append((time, time))
    return found
