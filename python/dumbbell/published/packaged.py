"""The folders of the published studies that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def folder(key: str) -> Path:
    """The folder of the study `key`, such as `buffa-2020`."""
    return _PACKAGE / key.replace("-", "_")
