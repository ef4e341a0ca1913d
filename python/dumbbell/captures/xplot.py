"""Time-sequence graphs as tcptrace writes them, for `xplot`: a file for each direction with data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import outputs
from dumbbell.captures.capture import Capture
from dumbbell.captures.detail import Part, read
from dumbbell.captures.rows import Connection
from dumbbell.errors import unwritable

if TYPE_CHECKING:
    import polars as pl

_ALL_NS: Final = 1 << 61
MOST: Final = 12
"""Directions that are drawn, those with the most bytes."""
_LETTERS: Final = {"reordered": ("pink", "O"), "network-duplicate": ("blue", "HD")}
_AGAIN: Final = ("red", "R")


def write(capture: Capture, folder: Path, only: Sequence[int] | None = None) -> list[Path]:
    """Write the graphs of the largest directions, or of connections `only`, to `folder`; return the files.

    The words are those that tcptrace 6.6.7 writes: white arrows for data, red R for what was sent again, pink O for
    what came late, green steps for acknowledgements, yellow ones for the window's end, purple bars S for SACK blocks.

    Raises:
        InputError: the capture's files cannot be read again, or `folder` cannot be written.
    """
    import polars as pl

    chosen = capture.largest(MOST, only)
    about = capture.about(row["connection"] for row in chosen)
    numbers = dict.fromkeys(row["connection"] for row in chosen)
    detail = read(capture, [Part(number, -_ALL_NS, _ALL_NS, "all") for number in numbers])
    origin = int(capture.summary["origin_ns"])
    written = []
    try:
        outputs.make_folder(folder)
        for row in chosen:
            number, direction = row["connection"], str(row["direction"])
            mine = pl.col("connection") == number
            is_own = pl.col("direction").cast(pl.String) == direction
            segments = detail.segments.filter(mine)
            title = _title(about[number], direction)
            path = folder / f"{number}-{direction}_tsg.xpl"
            lines = _graph(title, segments, is_own, detail.sacks.filter(mine & is_own), origin)
            outputs.write(path, "".join(f"{line}\n" for line in lines))
            written.append(path)
    except OSError as error:
        raise unwritable(folder, error) from None
    return written


def _title(connection: Connection, direction: str) -> str:
    ends = [
        f"{connection['client']}:{connection['client_port']}",
        f"{connection['server']}:{connection['server_port']}",
    ]
    return "_==>_".join(ends if direction == "to-server" else reversed(ends))


def _graph(title: str, segments: pl.DataFrame, is_own: pl.Expr, sacks: pl.DataFrame, origin: int) -> Iterator[str]:
    yield "timeval unsigned"
    yield f"title\n{title} (time sequence graph)"
    yield "xlabel\ntime"
    yield "ylabel\nsequence number"

    def at(time_ns: int) -> str:
        us = (time_ns + origin) // 1000
        return f"{us // 1_000_000}.{us % 1_000_000:06d}"

    for row in segments.filter(is_own).to_dicts():
        if row["bytes"]:
            yield from _data(at(row["time_ns"]), row)
        place = f"{at(row['time_ns'])} {max(0, row['seq'])}"
        for name, word in (("SYN", "SYN"), ("FIN", "FIN"), ("RST", "RST_OUT")):
            if name in row["flags"].split():
                yield f"orange\ndiamond {place}\natext {place}\n{word}"
    yield from _steps(segments.filter(~is_own), at)
    for row in sacks.to_dicts():
        time = at(row["time_ns"])
        yield f"purple\nline {time} {row['start']} {time} {row['end']}"
        yield f"htick {time} {row['end']}\nratext {time} {row['end']}\nS {row['block']}"
    yield "go"


def _data(time: str, row: dict[str, Any]) -> Iterator[str]:
    start, end = row["seq"], row["seq"] + row["bytes"]
    color, letter = "white", ""
    if row["class"] is not None:
        color, letter = _LETTERS.get(str(row["cause"]), _AGAIN)
    yield f"{color}\ndarrow {time} {start}\nuarrow {time} {end}\nline {time} {start} {time} {end}"
    if letter:
        yield f"atext {time} {end}\n{letter}"


def _steps(segments: pl.DataFrame, at: Any) -> Iterator[str]:
    """Acknowledgements and ends of the window, as steps; a repeated one is a tick."""
    before: tuple[str, int, int] | None = None
    for row in segments.to_dicts():
        if row["ack"] is None or row["window_end"] is None or row["ack"] < 0:
            continue
        time, ack, end = at(row["time_ns"]), row["ack"], row["window_end"]
        if before is not None:
            then, old, old_end = before
            yield f"green\nline {then} {old} {time} {old}"
            yield f"dtick {time} {ack}" if ack == old else f"line {time} {old} {time} {ack}"
            yield f"yellow\nline {then} {old_end} {time} {old_end}"
            yield f"line {time} {old_end} {time} {end}" if end != old_end else f"utick {time} {end}"
        before = time, ack, end
