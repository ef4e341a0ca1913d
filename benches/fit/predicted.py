"""Judges what `dumbbell fit --what-if` predicts, by a run of the other algorithm over the true path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as File
from shutil import rmtree
from typing import Final

import numpy as np

import dumbbell
from benches.fit.paths import ALGORITHMS, Hidden, captured, scenario_file
from benches.table import show, write_csv
from dumbbell.errors import DumbbellError
from dumbbell.fitting import fit
from dumbbell.fitting.whatif import Change, what_if

DRAWS: Final = 3
TRUTHS: Final = 4
"""Runs over the true path, with other random losses: goodput is their mean."""
LONGEST: Final = 4.0
"""A transfer may take so many times as long as the captured one."""


@dataclass(frozen=True)
class Predicted:
    """Goodput of an algorithm, bit/s: predicted from a capture of another one, and true."""

    path: Hidden
    cc: str
    is_identified: bool
    """True if the capture tells capacity and base RTT."""
    predicted_bps: float
    true_bps: float

    @property
    def error(self) -> float:
        """Difference as a share of the truth."""
        return abs(self.predicted_bps / self.true_bps - 1)


def predict(path: Hidden, engine: str, folder: File) -> list[Predicted]:
    """Predicts each other algorithm from the capture at the sender. A path that is refused predicts nothing."""
    others = [name for name in ALGORITHMS if name != path.cc]
    with captured(path, engine, folder) as (_, file, sides):
        try:
            found = fit(file, None, None, sides["sender"])
            outcomes = what_if(found, [Change("flows.0.cc", name, name) for name in others], path.cc, DRAWS)
        except DumbbellError:
            return []
    size = found.transfer.acknowledged_bytes
    is_identified = found.rate.capacity.is_identifiable and found.base_rtt.is_identifiable
    rows = []
    for name, one in zip(others, outcomes[1:], strict=True):
        flow = path.table["flows"][0] | {"cc": name, "bytes": f"{size} B"}
        table = path.table | {
            "name": f"{path.table['name']}-{name}",
            "duration": f"{LONGEST * path.seconds:.1f} s",
            "flows": [flow, *path.table["flows"][1:]],
            "record": {"packets": False, "acks": False},
        }
        place = folder / str(table["name"])
        scenario = scenario_file(place, table, path.files)
        seeds = [f"seed={1000 * number + path.number + 1}" for number in range(1, TRUTHS + 1)]
        runs = [dumbbell.run(scenario, [seed], place / "runs", engine=engine, report=False) for seed in seeds]
        true = float(np.mean([run.flows["goodput_bps"][0] for run in runs]))
        rmtree(place, ignore_errors=True)
        rows.append(Predicted(path, name, is_identified, float(np.mean(one.goodput_bps)), true))
    return rows


def tell_predicted(rows: Sequence[Predicted], tables: File | None) -> None:
    """Print how near predictions are; write `fit-what-if.csv` with all of them into `tables`."""
    head = ["paths", "predictions", "within 10 %", "within 25 %", "median error"]
    cells = []
    for name, of in (
        ("capacity and base RTT identified", [one for one in rows if one.is_identified]),
        ("all", list(rows)),
        *((family, [one for one in rows if one.path.family == family]) for family in dict.fromkeys(
            one.path.family for one in rows
        )),
    ):  # fmt: skip
        if of:
            errors = np.array([one.error for one in of])
            near = [f"{(errors <= most).sum()} ({100 * (errors <= most).mean():.0f} %)" for most in (0.1, 0.25)]
            cells.append([name, str(len(of)), *near, f"{100 * float(np.median(errors)):.1f} %"])
    show("fit-what-if", head, cells)
    columns = ["path", "family", "captured", "predicted", "predicted Mbit/s", "true Mbit/s", "error"]
    every = [
        [
            one.path.words, one.path.family, one.path.cc, one.cc, f"{one.predicted_bps / 1e6:.3f}",
            f"{one.true_bps / 1e6:.3f}", f"{100 * one.error:.1f} %",
        ]
        for one in rows
    ]  # fmt: skip
    show("fit-what-if-wrong", columns, [row for row, one in zip(every, rows, strict=True) if one.error > 0.1])
    if tables is not None:
        write_csv(tables / "fit-what-if.csv", columns, every)
