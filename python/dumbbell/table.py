"""A table of text, as the command line prints it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of text under a title."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    keys: int = 1
    """Columns from the left that name a row. A table that is too wide repeats them with each of its parts."""
