"""One run of a study by itself, with all its records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dumbbell.counts import count
from dumbbell.errors import InputError
from dumbbell.records.directory import RUNS
from dumbbell.scenario.file.loading import Draft, checked, read, seeded
from dumbbell.scenario.model import Scenario
from dumbbell.studies.cells import KEYS, values
from dumbbell.studies.prepared import prepared
from dumbbell.studies.starts import moved

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.pipeline.results import Run
    from dumbbell.statistics.frames import Frames


def recorded_runs(study: Frames, most: int, every: bool = False) -> list[tuple[int, Run]]:
    """Cell and run of the first usable run of each cell with its records, or of every one.

    Runs that have none are carried out again, into `single-runs` in the study's directory. Raises `InputError` if there
    are more than `most`.
    """
    from dumbbell.statistics.frames import usable

    rows = usable(study).sort("cell", "repetition")
    rows = rows if every else rows.group_by("cell", maintain_order=True).first()
    if rows.height > most:
        why = f"{study.directory} has {rows.height:,}, of which at most {most} find room in one figure"
        raise InputError("too many runs", why, "name some runs, as --cell makes them")
    return _recorded(study, rows)


def first_runs(study: Frames, cells: Sequence[int]) -> list[Run]:
    """The first usable run of each of these cells, as `recorded_runs` has them."""
    from dumbbell.statistics.frames import usable

    rows = usable(study).sort("cell", "repetition").group_by("cell", maintain_order=True).first()
    return [run for _, run in _recorded(study, rows.filter(rows["cell"].is_in(list(cells))))]


def _recorded(study: Frames, rows: pl.DataFrame) -> list[tuple[int, Run]]:
    from dumbbell.pipeline.results import Run
    from dumbbell.pipeline.run import run

    draft, again, found = read(study.directory / "scenario.toml"), study.directory / "single-runs", []
    for row in rows.iter_rows(named=True):
        name = f"{study.manifest['name']}-{row['run_id']}"
        place = study.directory / RUNS / name
        scenario = single(draft, row["cell"], row["repetition"])
        label = f"cell-{row['cell']}-{row['repetition']}"
        kept = place if place.is_dir() else next(iter(sorted(again.glob(f"{label}-*"))), None)
        if kept is None:
            named = scenario.model_copy(update={"name": label})
            kept = run(named, directory=again, engine=str(study.manifest["engine"]), report=False).directory
        found.append((row["cell"], Run(kept)))
    return found


def single(draft: Draft, cell: int, repetition: int) -> Scenario:
    """The scenario of a cell with the seed of a repetition. Raises `InputError`."""
    base, cells = prepared(draft)
    if not 0 <= cell < len(cells):
        raise InputError(
            f"no cell {cell}",
            f"{draft.name} has {count(len(cells), 'cell')}, numbered from 0",
            f"--cell {len(cells) - 1} is the last",
        )
    if repetition < 0:
        raise InputError(f"no repetition {repetition}", "repetitions are numbered from 0", "--repetition 0")
    if repetition >= base.repeat.most:
        why = f"{draft.name} has {count(base.repeat.most, 'repetition')} of each cell, numbered from 0"
        hint = f"--repetition {base.repeat.most - 1}, or --repeat {repetition + 1} for more"
        raise InputError(f"no repetition {repetition}", why, hint)
    found = moved(checked(draft.without(KEYS).with_values(values(cells[cell]), "sweep")), base.repeat.most)
    return seeded(found, found.seed + repetition)
