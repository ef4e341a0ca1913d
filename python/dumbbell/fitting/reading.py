"""Reads captures, of one end or of both, and other files, and fits a path to one of their connections."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, cast

from dumbbell.captures import Capture, analyse, is_capture
from dumbbell.captures.named import Named
from dumbbell.captures.points import FILE
from dumbbell.captures.points import interfaces as points
from dumbbell.captures.warnings import is_of_several_places, several_places
from dumbbell.errors import InputError
from dumbbell.fitting import profile
from dumbbell.fitting.fitted import Fit, fit_direction
from dumbbell.fitting.logs import forms
from dumbbell.pipeline.captured import run_of

_HINT: Final = f"captures can be read, and: {', '.join(form.title for form in forms.FORMS)}"


def fit(
    capture: str | os.PathLike[str],
    connection: str | int | None = None,
    at: str | None = None,
    interfaces: Sequence[str] = (),
    other: str | os.PathLike[str] | None = None,
) -> Fit:
    """Fits a path to a connection of a capture or a log, as its sender, its receiver, or both saw it.

    Args:
        capture: A pcap or pcapng, compressed or not; or the directory of one that was analysed, or of a run with
            `record.capture`; or a profile; or `iperf3 --json`, a log of `ss -ti`, qlog, a Mahimahi trace, or a table
            of time, rate and delay, which are recognised by their content.
        connection: Its number, an endpoint, or two; of iperf3, the number of a stream; by default the connection
            with the most payload.
        at: Where the capture was taken, `sender` or `receiver`; detected by default. The packets of a run are read at
            its senders by default.
        interfaces: Names of the interfaces of a pcapng whose packets count; all by default.
        other: A capture of the other end; of a run, its directory again.

    Raises:
        InputError: the file has none of these forms, is damaged, has no such connection, or does not show an end of
            the path; or both captures have no packet in common, or are of one end.
    """
    if at not in (None, "sender", "receiver"):
        raise InputError(
            f"a path cannot be fitted in the {at}", "it needs packets as an end saw them", "--at sender, or receiver"
        )
    if (form := forms.form_of(Path(capture))) is not None:
        if other is not None or at is not None or interfaces:
            why = f"it is a {form.title}, which has no packets of an interface"
            raise InputError(f"{capture} is no capture", why, "name it alone, at most with --connection")
        return forms.fit(form, Path(capture), None if connection is None else str(connection))
    if profile.is_profile(Path(capture)):
        if other is not None or connection is not None or at is not None or interfaces:
            raise InputError(f"{capture} is a profile", "it has one transfer, and no packets", "name it alone")
        return profile.read(Path(capture))
    if other is not None and at is not None:
        raise InputError("--at does not fit two captures", "they are of both ends", "leave it out")
    with ExitStack() as stack:
        first = _opened(capture, at, interfaces, stack)
        if other is None:
            return _fitted(first, connection, at if run_of([os.fspath(capture)]) is None else None)
        is_same = Path(capture).is_dir() and Path(capture).resolve() == Path(other).resolve()
        return _fitted(first, connection, None, _opened(other, "receiver" if is_same else None, (), stack))


def _opened(path: str | os.PathLike[str], at: str | None, interfaces: Sequence[str], stack: ExitStack) -> Capture:
    """The analysis of a capture, which lasts as long as `stack`."""
    run = run_of([os.fspath(path)])
    if run is not None:
        path, interfaces, at = run.directory / FILE, interfaces or points(run.plan, at or "sender"), None
    if is_capture(Path(path)):
        return Capture(Path(path))
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="dumbbell-fit-")))
    side = cast(Literal["sender", "receiver"] | None, at)
    try:
        return analyse(path, output=folder / "analysis", interfaces=interfaces, at=side)
    except InputError as error:
        if error.hint or not Path(path).is_file():
            raise
        raise InputError(error.what, error.why, _HINT) from None


def _fitted(capture: Capture, connection: str | int | None, at: str | None, other: Capture | None = None) -> Fit:
    numbers = None if connection is None else Named.parse(str(connection)).numbers(capture)
    rows = capture.largest(1, numbers)
    if not rows:
        why = "no connection carried payload"
        raise InputError(f"{capture.name} has no data", why, "capture both directions, or name another file")
    if is_of_several_places(rows[0]["data_packets"], rows[0]["network_duplicates"] or 0):
        why = several_places(capture.summary.get("interfaces", []))
        raise InputError(f"{capture.name} shows no end of the path alone", why)
    return fit_direction(capture, rows[0], at, other)
