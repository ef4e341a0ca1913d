"""One run of a study by itself, with all its records."""

from __future__ import annotations

from dumbbell.counts import count
from dumbbell.errors import InputError
from dumbbell.scenario.file.loading import Draft, checked, seeded
from dumbbell.scenario.model import Scenario
from dumbbell.studies.cells import KEYS, values
from dumbbell.studies.rounds import prepared
from dumbbell.studies.starts import moved


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
