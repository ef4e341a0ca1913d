"""The published numbers and the study files that come with the package."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent


def rows(name: str) -> list[Mapping[str, str]]:
    """Of `published/NAME.csv`, as texts by column."""
    with (FOLDER / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scenario(path: str) -> Path:
    """Of a study file below `scenarios/`."""
    return FOLDER / "scenarios" / path
