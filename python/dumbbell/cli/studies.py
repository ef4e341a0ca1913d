"""Finds the study or the run that a verb's argument names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.cli.output import say

if TYPE_CHECKING:
    from dumbbell.studies import Study


def is_study(path: Path) -> bool:
    """True if a directory holds a study."""
    from dumbbell.studies.directory import MANIFEST

    return (path / MANIFEST).exists()


def find(name: str) -> Path:
    """The directory of a study or a run: itself, or the latest study of this name, or else the latest run of it.

    If a run has the same name as a study, as `--cell` makes one, stderr notes it. Raises `InputError`.
    """
    from dumbbell.errors import InputError
    from dumbbell.records.directory import find as find_run
    from dumbbell.records.directory import name_hint
    from dumbbell.studies.directory import STUDIES, latest

    if Path(name).is_dir() or "/" in name:
        return Path(name)
    study = latest(name)
    try:
        run = find_run(name)
    except InputError:
        if study is None:
            why = f"there is no such directory, and neither {STUDIES} nor runs has a finished one of this name"
            raise InputError(f"no study and no run at {name}", why, name_hint(name, STUDIES, Path("runs"))) from None
        return study
    if study is None:
        return run
    say(f"note: {name} is also a run: {run}", sys.stderr)
    return study


def open_study(path: Path) -> Study:
    """The study at `path`; a warning tells if results of it are gone. Raises `InputError` if there is none."""
    import warnings

    from dumbbell.counts import count
    from dumbbell.errors import DamagedFile
    from dumbbell.studies import Study
    from dumbbell.studies.directory import INCOMPLETE

    found = Study(path)
    if found.state == INCOMPLETE:
        lost = f"{found.missing:,} of {count(int(found.manifest['runs']), 'run')}"
        said = f"{path} is incomplete: results of {lost} are gone. To get them again, repeat the study's command"
        warnings.warn(said, DamagedFile, stacklevel=2)
    return found
