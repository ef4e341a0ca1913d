"""Reads a capture and fits a path to one of its connections."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, cast

from dumbbell.captures import Capture, analyse, is_capture
from dumbbell.captures.named import Named
from dumbbell.captures.points import FILE
from dumbbell.captures.points import interfaces as points
from dumbbell.captures.warnings import is_of_several_places, several_places
from dumbbell.errors import InputError
from dumbbell.fitting.fitted import Fit, fit_direction
from dumbbell.pipeline.captured import run_of


def fit(
    capture: str | os.PathLike[str],
    connection: str | int | None = None,
    at: str | None = None,
    interfaces: Sequence[str] = (),
) -> Fit:
    """Fits a path to a connection of a capture, as its sender or its receiver saw it.

    Args:
        capture: A pcap or pcapng, compressed or not; or the directory of one that was analysed, or of a run with
            `record.capture`.
        connection: Its number, an endpoint, or two; by default the connection with the most payload.
        at: Where the capture was taken, `sender` or `receiver`; detected by default. The packets of a run are read at
            its senders by default.
        interfaces: Names of the interfaces of a pcapng whose packets count; all by default.

    Raises:
        InputError: the file is no capture, has no such connection, or does not show an end of the path.
    """
    if at not in (None, "sender", "receiver"):
        raise InputError(
            f"a path cannot be fitted in the {at}", "it needs packets as an end saw them", "--at sender, or receiver"
        )
    path = Path(capture)
    run = run_of([os.fspath(capture)])
    if run is not None:
        capture, interfaces, at = run.directory / FILE, interfaces or points(run.plan, at or "sender"), None
    if is_capture(path):
        return _fitted(Capture(path), connection, at)
    with TemporaryDirectory(prefix="dumbbell-fit-") as folder:
        side = cast(Literal["sender", "receiver"] | None, at)
        found = analyse(capture, output=Path(folder) / "analysis", interfaces=interfaces, at=side)
        return _fitted(found, connection, at)


def _fitted(capture: Capture, connection: str | int | None, at: str | None) -> Fit:
    numbers = None if connection is None else Named.parse(str(connection)).numbers(capture)
    rows = capture.largest(1, numbers)
    if not rows:
        raise InputError(f"{capture.name} has no data", "no connection carried payload", "name another")
    if is_of_several_places(rows[0]["data_packets"], rows[0]["network_duplicates"] or 0):
        why = several_places(capture.summary.get("interfaces", []))
        raise InputError(f"{capture.name} shows no end of the path alone", why)
    return fit_direction(capture, rows[0], at)
