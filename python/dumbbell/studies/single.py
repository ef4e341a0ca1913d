"""One run of a study by itself, with all its records."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dumbbell.below import Below, confined
from dumbbell.command import command
from dumbbell.counts import count
from dumbbell.engines.registry import capabilities, option
from dumbbell.errors import Damaged, DamagedFile, DumbbellError, InputError
from dumbbell.records.directory import RUNS
from dumbbell.records.files import unreadable
from dumbbell.scenario.file.loading import Draft, checked, read, seeded
from dumbbell.scenario.model import Scenario
from dumbbell.studies.cells import KEYS, values
from dumbbell.studies.directory import check_links
from dumbbell.studies.prepared import prepared
from dumbbell.studies.starts import moved

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.pipeline.results import Run
    from dumbbell.statistics.frames import Frames

ALWAYS: Final = ("samples", "links", "flows")
"""Tables that each run has."""


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


def first_runs(study: Frames, cells: Sequence[int], again: bool = True) -> list[Run]:
    """The first usable run of each of these cells, as `recorded_runs` has them.

    Raises `InputError` also if `again` is false, and one has no records.
    """
    from dumbbell.statistics.frames import usable

    rows = usable(study).sort("cell", "repetition").group_by("cell", maintain_order=True).first()
    return [run for _, run in _recorded(study, rows.filter(rows["cell"].is_in(list(cells))), again)]


def _recorded(study: Frames, rows: pl.DataFrame, again: bool = True) -> list[tuple[int, Run]]:
    place, found = study.directory / "single-runs", []
    for row in rows.iter_rows(named=True):
        kept = study.directory / RUNS / f"{study.manifest['name']}-{row['run_id']}"
        label = f"cell-{row['cell']}-{row['repetition']}"
        run = readable(row["cell"], row["repetition"], [kept, *sorted(place.glob(f"{label}-*"))])
        if run is None:
            if not again:
                raise _no_records(study, row["cell"], row["repetition"])
            named = scenario_of(study, row["cell"], row["repetition"]).model_copy(update={"name": label})
            run = simulate_again(study, named, row["cell"], row["repetition"], place)
        found.append((row["cell"], run))
    return found


def readable(cell: int, repetition: int, places: Iterable[Path]) -> Run | None:
    """The first of these runs that is complete and whole; `None` if there is none, and a warning names the damage.

    A damaged run stays where it is: one that is carried out again gets its name, and the damaged one a number.
    """
    from dumbbell.pipeline.results import Run

    bad = []
    for place in places:
        if not place.is_dir() or ".failed-" in place.name:
            continue
        try:
            found = Run(place)
            _ = found.summary
            always = {place / f"{table}.parquet" for table in ALWAYS}
            for path in sorted(always.union(place.glob("*.parquet"))):
                if why := _why(path):
                    raise Damaged(f"{path} cannot be read", why)
        except DumbbellError as error:
            bad.append(error)
            continue
        return found
    for one in bad[:1]:
        said = f"{one.what} ({one.why}): the run of cell {cell}, repetition {repetition} counts as missing"
        warnings.warn(said, DamagedFile, stacklevel=2)
    return None


def _why(path: Path) -> str:
    """Why a table cannot be read; empty: it can. A report asks for the same run again and again."""
    try:
        known = path.stat()
    except OSError as error:
        return error.strerror or str(error)
    return _looked_at(path, (known.st_ino, known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=4096)
def _looked_at(path: Path, _stamp: tuple[int, int, int]) -> str:
    return unreadable(path, whole=True)


def scenario_of(study: Frames, cell: int, repetition: int) -> Scenario:
    """The scenario of a run of a study, by the study's own file. Raises `InputError`.

    All files that it names lie beside it, as `scenario.file.writing` has put them there. That of a stranger may name
    others, and a run keeps copies: so no path leads out.
    """
    with confined(Below(study.directory)):
        return single(read(study.directory / "scenario.toml"), cell, repetition)


def simulate_again(study: Frames, scenario: Scenario, cell: int, repetition: int, directory: Path) -> Run:
    """Carries out a simulated run of a study again, which has no records.

    The study may be a stranger's, of which somebody reads the report. Other engines would start its programs.

    Raises:
        InputError: it is the run of another engine, which should be there; or a part of the study is a link.
    """
    from dumbbell.pipeline.run import run

    engine = str(study.manifest["engine"])
    if not capabilities(engine).models_tcp:
        raise _no_records(study, cell, repetition)
    check_links(study.directory, directory)
    return run(scenario, directory=directory, engine=engine, report=False)


def _no_records(study: Frames, cell: int, repetition: int) -> InputError:
    again = command("run", str(study.directory / "scenario.toml"), *option(str(study.manifest["engine"])),
                    "--output", str(study.directory / RUNS))  # fmt: skip
    return InputError(
        f"the run of cell {cell}, repetition {repetition} of {study.directory} has no records",
        "it was removed, damaged, or not kept, and a report starts no programs",
        f"{again} --cell {cell} --repetition {repetition} repeats it",
    )


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
