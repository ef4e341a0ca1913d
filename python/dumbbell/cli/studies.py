"""Studies as the verbs that read them find them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.studies import Study


def is_study(path: Path) -> bool:
    """Whether a directory holds one."""
    from dumbbell.studies.directory import MANIFEST

    return (path / MANIFEST).exists()


def open_study(path: Path) -> Study:
    """Raises `InputError` if there is none."""
    from dumbbell.studies import Study

    return Study(path)
