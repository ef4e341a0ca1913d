"""Analyses captures."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from json import dumps, loads
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Final, Literal

from dumbbell import outputs
from dumbbell.caller import give
from dumbbell.captures.capture import INCOMPLETE, KEPT, MOST_CONNECTIONS, Capture, is_capture
from dumbbell.captures.detail import keep
from dumbbell.captures.files import digests
from dumbbell.captures.model import SUMMARY
from dumbbell.core import core
from dumbbell.errors import Damaged, InputError, unwritable
from dumbbell.hints import closest

TOP: Final = 12
"""Connections of which each packet becomes a row with `segments="top"`, and directions that a report draws."""


def place_of(name: str, files: Sequence[str | os.PathLike[str]]) -> Path:
    """The directory `name` with `.analysis` in the working directory, for the analysis of `files`.

    Raises `InputError` if it holds the analysis of other files.
    """
    place = Path(f"{name}.analysis")
    if is_capture(place):
        try:
            others = Capture(place).summary["files"]
        except Damaged:  # It says itself that it is to be repeated.
            return place
        if others != [os.path.abspath(file) if file != "-" else "-" for file in files]:
            raise InputError(
                f"{place} is the analysis of {others[0]}", "it would be overwritten", "name another: --output DIRECTORY"
            )
    return place


def _check_once(paths: Sequence[str]) -> None:
    """Raises `InputError` if a file is named twice: its packets would count twice."""
    seen: dict[object, str] = {}
    for path in paths:
        found = Path(path).stat() if Path(path).exists() else None
        key = path if found is None else (found.st_dev, found.st_ino)
        if key in seen:
            what = f"{path} is named twice" if path == seen[key] else f"{path} is the same file as {seen[key]}"
            raise InputError(what, "its packets would count twice", "name each file once")
        seen[key] = path


def analyse(
    *files: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    interfaces: Sequence[str] = (),
    interval_ns: int = 100_000_000,
    segments: Literal["none", "top", "all"] = "none",
    decode_as: Sequence[str] = (),
    at: Literal["sender", "receiver", "middle"] | None = None,
    on_progress: Callable[[int, int], object] = lambda frames, connections: None,
) -> Capture:
    """Analyse captures as one: pcap and pcapng, compressed or not, in any order; `-` is standard input.

    Args:
        output: The directory to make, whatever it holds an analysis of; by default `place_of` the first file's name.
        interfaces: The interfaces whose packets count, by the names that pcapng has of them; all by default.
        interval_ns: Length of the intervals, ns.
        segments: Of which connections each packet becomes a row of `segments`: `none`, `top` of the 12 with the most
            payload in a direction, or `all`.
        decode_as: What frames hold that do not say it: `udp:PORT=vxlan`, `=geneve` or `=gtp`, `link=TYPE` or
            `link:TYPE=TYPE`, with numbers of link types.
        at: Where the capture was taken, if that is not to be found out: at the `sender` of most of a connection's
            payload, at its `receiver`, or in the `middle`.
        on_progress: Called with frames and connections so far.

    Raises:
        InputError: no TCP packet can be read, a file is named twice, `decode_as` is malformed, or `output` is there
            already and is no analysed capture.
    """
    if not files:
        raise InputError("no capture is named", "", "dumbbell pcap FILE...")
    paths = ["-" if os.fspath(file) == "-" else os.path.abspath(file) for file in files]
    _check_once(paths)
    if missing := next((path for path in paths if path != "-" and not os.path.lexists(path)), None):
        raise InputError(f"{os.path.relpath(missing)}: no such file", "", _similar(Path(missing)))
    for path in paths:
        if path != "-" and os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            # A pipe that nobody writes to would make the reader wait for ever.
            hint = "a pipe can be standard input: -"
            raise InputError(f"{os.path.relpath(path)}: cannot read it", "it is not a regular file", hint)
    if len(paths) > 1 and (folder := next((path for path in paths if Path(path).is_dir()), None)):
        raise InputError(
            f"{os.path.relpath(folder)} is a directory, and {len(paths)} captures are named",
            "only files are read as one; the directory of a run or of an analysis is read alone",
            "name one directory, and another to compare with --and",
        )
    first = "stdin" if paths[0] == "-" else Path(paths[0]).name
    place = Path(output) if output is not None else place_of(first, paths)
    if place.exists() and not (place / SUMMARY).is_file():
        raise InputError(
            f"{place} is there already", "it is not an analysed capture", "write elsewhere: --output DIRECTORY"
        )
    try:
        outputs.make_folder(place.parent)
        partial = Path(mkdtemp(prefix=".partial-", dir=place.parent))
    except OSError as error:
        raise unwritable(place, error) from None
    try:
        # Before the files are read: one that changes meanwhile is another.
        known = digests(paths)
        try:
            summary = core.analyse_captures(
                paths,
                list(interfaces),
                list(decode_as),
                partial,
                interval_ns,
                MOST_CONNECTIONS,
                segments,
                TOP,
                at,
                on_progress,
            )
        except ValueError as error:
            word, _, why = str(error).partition(": ")
            raise InputError(f"--decode-as {word}: not understood", why, "udp:4790=vxlan, or link:147=1") from None
        except RuntimeError as error:
            if interfaces and str(error).startswith("no TCP packet"):
                raise InputError(
                    f"the capture has no TCP packet of {_interfaces(interfaces)}",
                    f"{error}. A pcap does not name interfaces, a pcapng may name others",
                    "leave out --interface, or name another",
                ) from None
            raise InputError("the capture cannot be analysed", str(error)) from None
        said = {
            "files": paths,
            "digests": known,
            "only": list(interfaces),
            "decode_as": list(decode_as),
            "at": at,
            **loads(summary),
        }
        kept = said.pop("kept", None)
        is_stream = "-" in paths
        if kept is not None and (is_stream or not kept["incomplete"]):
            said[INCOMPLETE] = kept["incomplete"]
            said[KEPT] = len(kept["connections"]) if segments == "top" else said["connections"]
        outputs.write(partial / SUMMARY, dumps(said, indent=2) + "\n")
        partial.chmod(0o755)
        _settle(partial, place)
    except BaseException:
        rmtree(partial, ignore_errors=True)
        raise
    capture = Capture(place)
    if kept is not None and kept["incomplete"] and not is_stream:
        # A connection was small for so long that its packets were given up: now its number is known.
        keep(capture, kept["connections"])
    return capture


def _settle(partial: Path, place: Path) -> None:
    """Give an analysis its name; an earlier one of that name is there until it is whole."""
    before = partial.with_name(f"{partial.name}-before")
    try:
        with suppress(FileNotFoundError):
            place.rename(before)
        try:
            partial.rename(place)
        except OSError:
            with suppress(FileNotFoundError):
                before.rename(place)
            raise
    except OSError as error:
        raise unwritable(place, error) from error
    give(place)
    rmtree(before, ignore_errors=True)


def _interfaces(names: Sequence[str]) -> str:
    return f"interface{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _similar(path: Path) -> str:
    """A hint with the file beside a missing one whose name is the nearest."""
    there = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    close = closest(path.name, there)
    return (
        f"did you mean {os.path.relpath(path.with_name(close))}?" if close is not None else "name a pcap or pcapng file"
    )
