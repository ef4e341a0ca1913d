"""Notes on what an import cannot carry over, and the names that it can."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign.joined import Joined

LARGEST: Final = 1 << 20
"""Characters of a file of others with all that is written out: aliases, and what nodes inherit."""
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,14}")


@dataclass
class Notes:
    """Features that a scenario cannot express, each kind once with how often."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, what: str) -> None:
        """Note something."""
        self.counts[one_line(what)] += 1

    def __iter__(self) -> Iterator[str]:
        """A sentence for each kind."""
        for what, count in self.counts.items():
            yield what if count == 1 else f"{what} ({count} times)"


@dataclass
class Room:
    """Room for what a file says of its nodes: a short one may repeat a part for each of them."""

    left: int = LARGEST

    def take(self, value: object) -> None:
        """Take the characters of a value. Raises `InputError` if there is no room for them."""
        self.left -= len(str(value))
        if self.left < 0:
            why = f"with what its nodes inherit it has more than {LARGEST:,} characters"
            raise InputError("the file is too large", why, "import a part of the network")


def one_line(value: object) -> str:
    """Returns text that a comment of TOML can hold: no control characters, and nothing that UTF-8 lacks."""
    text = value if isinstance(value, str) else json.dumps(value)
    printed = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(printed.split())


def note_parts(nodes: Iterable[str], links: Iterable[tuple[str, str]], notes: Notes) -> None:
    """Note that a network has parts that no link joins.

    Args:
        nodes: all names.
        links: the names of their ends.
        notes: added to.
    """
    parts = Joined[str]()
    for a, b in links:
        parts.join(a, b)
    count = len({parts.root(name) for name in nodes})
    if count > 1:
        notes.add(f"{count} parts of the network are not joined by any link")


def free(base: str, taken: Container[str], numbers: Iterator[int]) -> str:
    """A name for the switch of a segment. What `numbers` gave before is taken."""
    name = "lan-" + re.sub(r"[^A-Za-z0-9_-]", "-", base)[:11]
    return name if name not in taken else next(f"lan-{one}" for one in numbers if f"lan-{one}" not in taken)


def checked(node: str, taken: Container[str]) -> str:
    """The name of a node. Raises `InputError` if another node has it."""
    if node in taken:
        why = "links cannot tell two nodes of one name apart"
        raise InputError(f"two nodes are named {node}", why, "rename one of them in the file")
    return node
