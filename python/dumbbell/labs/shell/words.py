"""The words of the shell, and what they have to work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.labs.live import Live
from dumbbell.labs.network import Network


@dataclass
class Session:
    """A shell that goes on."""

    lab: Live
    execute: Callable[[str], int]
    """Carries out a line, and returns its exit code."""
    names: dict[str, object] = field(default_factory=dict)
    """The names that Python in the shell knows."""
    over: bool = False
    """The shell is to end."""

    @property
    def network(self) -> Network:
        """The lab's nodes and cables."""
        return self.lab.network


Work = Callable[[Session, list[str]], int | None]
"""Carries out a word with its arguments. Returns an exit code, `None` for 0."""


@dataclass(frozen=True)
class Word:
    """A word of the shell."""

    name: str
    arguments: str
    meaning: str
    work: Work


WORDS: Final[dict[str, Word]] = {}
"""All words, in the order of the help."""


def word(name: str, arguments: str, meaning: str) -> Callable[[Work], Work]:
    """Marks the function that carries out the word `name`.

    Args:
        name: what the user types.
        arguments: what stands behind it, for the help.
        meaning: a sentence for the help.
    """

    def mark(work: Work) -> Work:
        WORDS[name] = Word(name, arguments, meaning, work)
        return work

    return mark
