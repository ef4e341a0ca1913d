"""A table of text, as the command line prints it."""

from __future__ import annotations

from typing import Final
from unicodedata import category

from dumbbell.frozen import dataclass


def printable(text: str, keep: str = "\n") -> str:
    """A text without what a terminal obeys or hides, but `keep`: escape sequences, other directions, line ends."""
    if text.isprintable():
        return text
    return "".join(one if one in keep or category(one) not in _OBEYED else ascii(one)[1:-1] for one in text)


_OBEYED: Final = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])


@dataclass(frozen=True)
class Table:
    """Rows of text under a title."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    keys: int = 1
    """Columns from the left that name a row. A table that is too wide repeats them with each of its parts."""
