"""Studies as the verbs that read them find them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.sweeps import Sweep


def is_study(path: Path) -> bool:
    """Whether a directory holds one."""
    from dumbbell.sweeps.directory import MANIFEST

    return (path / MANIFEST).exists()


def open_study(path: Path) -> Sweep:
    """Raises `InputError` if there is none."""
    from dumbbell.sweeps import Sweep

    return Sweep(path)
