"""The state of a study that earlier commands have left: when it began, and the rounds of its runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from dumbbell.errors import DamagedFile, DumbbellError
from dumbbell.studies import model, shards
from dumbbell.studies.directory import MANIFEST
from dumbbell.studies.schedule import Schedule, Scheduled


def begun(path: Path, now: str) -> Mapping[str, str]:
    """The start of a study that goes on now, and the time at which it goes on; empty for a new one."""
    with suppress(DumbbellError, KeyError):
        return {"started_at": model.manifest(path)["started_at"], "continued_at": now}
    return {}


def schedule(path: Path, cells: int) -> Schedule:
    """The runs that earlier commands asked for.

    If the manifest is damaged, the runs that have figures say what was asked for, and a warning tells.

    Raises:
        DumbbellError: they do not say it, as some are missing.
    """
    manifest = path / MANIFEST
    if not manifest.exists():
        return Schedule(cells)
    try:
        return Schedule(cells, model.manifest(path)["rounds"])
    except (DumbbellError, KeyError, TypeError, ValueError, IndexError):
        pass
    found = Schedule(cells, _rounds(manifest, _runs(path), cells))
    warnings.warn(f"{manifest} cannot be read: it is written anew from the runs", DamagedFile, stacklevel=2)
    return found


def _runs(path: Path) -> list[Scheduled]:
    """The runs that have figures or were given up, in the order of their numbers."""
    rows = shards.scan(path, "runs").select("run", "cell", "repetition").collect().rows()
    given_up = [(row["run"], row["cell"], row["repetition"]) for row in shards.refused(path)]
    return [Scheduled(*row) for row in sorted({*rows, *given_up})]


def _rounds(manifest: Path, runs: Sequence[Scheduled], cells: int) -> list[tuple[int, Sequence[int] | None]]:
    """Rounds that give these runs their numbers."""
    if all(run.number == index for index, run in enumerate(runs)):
        by_round = [(number, [run.cell for run in some]) for number, some in groupby(runs, lambda run: run.repetition)]
        return [(number, None if len(some) == cells else some) for number, some in by_round]
    # Some are missing: an interrupted round of all cells, or a damaged file of figures.
    if all(run.number == run.repetition * cells + run.cell for run in runs):
        return [(number, None) for number in range(runs[-1].repetition + 1)]
    raise DumbbellError(
        f"{manifest} cannot be read",
        "nor can all runs, which would say in what order they were asked for",
        f"move {manifest.parent} away, and run the study again",
    )
