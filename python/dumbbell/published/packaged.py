"""The published numbers and the study files that come with the package."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def folder(key: str) -> Path:
    """The folder of the study `key`, such as `buffa-2020`: its module, its study files and its published numbers."""
    return _PACKAGE / key.replace("-", "_")


def rows(path: str) -> list[Mapping[str, str]]:
    """The published numbers `STUDY/NAME`, which are `numbers/NAME.csv` of the study, as texts by column."""
    key, _, name = path.partition("/")
    with (folder(key) / "numbers" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scenario(path: str) -> Path:
    """The study file `STUDY/NAME.toml`, which is `scenarios/NAME.toml` of the study."""
    key, _, name = path.partition("/")
    return Path(path) if Path(path).is_absolute() else folder(key) / "scenarios" / name
