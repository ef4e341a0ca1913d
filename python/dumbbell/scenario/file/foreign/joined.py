"""Sets of things that links join."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Generic, TypeVar

Name = TypeVar("Name", int, str)


class Joined(Generic[Name]):
    """Disjoint sets: each name is in one of its own until it is joined with another."""

    def __init__(self) -> None:
        """No name is joined with any other."""
        self._above: dict[Name, Name] = {}

    def root(self, name: Name) -> Name:
        """Returns a member of the name's set, the same one for all of them."""
        while (above := self._above.get(name, name)) != name:
            self._above[name] = name = self._above.get(above, above)
        return name

    def join(self, name: Name, other: Name) -> bool:
        """Joins the sets of two names. False: they were one already."""
        a, b = self.root(name), self.root(other)
        self._above[a] = b
        return a != b


def joined_at(links: Sequence[Sequence[str]], nodes: Container[str]) -> Joined[int]:
    """The numbers of links, joined where they meet at one of `nodes`.

    Args:
        links: the names of the ends of each.
        nodes: their names.
    """
    parts, first = Joined[int](), dict[str, int]()
    for number, ends in enumerate(links):
        for name in ends:
            if name in nodes:
                parts.join(number, first.setdefault(name, number))
    return parts
