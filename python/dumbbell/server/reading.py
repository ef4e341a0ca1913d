"""Reads texts. A change of a document asks for that three times: before it, after it, and to check what it means."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from dumbbell.scenario.file.toml import parse


@lru_cache(maxsize=4)
def values(text: str) -> Mapping[str, object]:
    """The values of a TOML text, which nobody may change. Raises `TOMLDecodeError`."""
    return parse(text)
