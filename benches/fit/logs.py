"""Judges fits of logs: what `ss`, iperf3 and a sender's qlog would have told of a simulated transfer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as File
from shutil import rmtree
from typing import Any, Final

import polars as pl

import dumbbell
from benches.fit import written
from benches.fit.judged import PROPERTIES, Judged, judged, refused, relative
from benches.fit.paths import Hidden, scenario_file
from dumbbell.errors import DumbbellError
from dumbbell.fitting import fit

RATE: Final = "rate while it queued"
LOGGED: Final = (RATE, *PROPERTIES)
WINDOW: Final = 64 << 20
"""Window of the receiver in iperf3's log, bytes: it limits no hidden path."""
_FLOW: Final = "f1"
_UNEVEN: Final = ("policed", "cellular", "wifi")
"""Families whose rate while packets queue is no figure of the path alone."""


def _texts(path: Hidden, run: Any) -> dict[str, Callable[[], str]]:
    samples = run.samples.filter(pl.col("flow") == _FLOW)
    return {
        "ss": lambda: written.ss(samples, path.cc),
        "iperf3": lambda: written.iperf3(samples, path.cc, WINDOW),
        "qlog": lambda: written.qlog(run.packets, _FLOW, "bottleneck", path.rtt_ms / 2),
    }


def left_bps(path: Hidden) -> float | None:
    """Rate that others leave of the bottleneck, bit/s; None if it changes over time."""
    others = path.table["flows"][1:]
    if path.family in _UNEVEN or any("on" in one for one in others):
        return None
    return path.capacity_bps - sum(1e3 * float(one["rate"].removesuffix(" kbit/s")) for one in others)


def judge_logs(path: Hidden, folder: File) -> list[Judged]:
    """A transfer over a path, logged in each form and fitted. A log that is refused identifies nothing."""
    place = folder / str(path.table["name"])
    table = path.table | {"record": {"packets": True, "acks": False}}
    rows: list[Judged] = []
    try:
        run = dumbbell.run(scenario_file(place, table, path.files), (), place / "runs", engine="simulate", report=False)
        for form, text in _texts(path, run).items():
            file = place / f"log.{form}"
            file.write_text(text())
            try:
                found = fit(file)
            except DumbbellError as error:
                rows += refused(path, form, error.problems[0].what, LOGGED)
                continue
            truth = left_bps(path)
            if truth is not None:
                rows.append(relative(path, form, RATE, truth, found.rate.available, 0.02))
            rows += judged(path, form, found)
    finally:
        rmtree(place, ignore_errors=True)
    return rows
