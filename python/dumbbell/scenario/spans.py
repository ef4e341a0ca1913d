"""Finds the places of keys and values in a TOML text, which tomllib does not report."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from dumbbell.frozen import dataclass

Key = tuple[str | int, ...]
"""The way to a value: `("flows", 1, "cc")` is printed as `flows.1.cc`."""


@dataclass(frozen=True)
class Span:
    """A piece of one line."""

    line: int
    """The line, from 1."""
    column: int
    """The column of the first character, from 1."""
    length: int
    """Characters; what goes on in the next line is not counted."""


@lru_cache(maxsize=64)
def spans(text: str) -> dict[Key, Span]:
    """The place of each table, key and list item of a text that tomllib reads.

    A table that has a header is at the first header that names it, a key at the beginning of `key = value`, and an item
    of a list at the beginning of its value.
    """
    scanner = _Scanner(text)
    scanner.document()
    # To count newlines anew for each key would take hours for a long text.
    ends = [match.start() for match in re.finditer("\n", text)]
    return {key: _span(ends, begin, end) for key, (begin, end) in scanner.found.items()}


def _span(ends: Sequence[int], begin: int, end: int) -> Span:
    line = bisect_left(ends, begin)
    start = ends[line - 1] + 1 if line else 0
    end = min(end, ends[line]) if line < len(ends) else end
    return Span(line + 1, begin - start + 1, end - begin)


_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"""(?:"{0,2})' r"|'''[\s\S]*?'''(?:'{0,2})" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'"
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN: Final = re.compile(r"[^,\]}\n#]*[^,\]}\n# \t\r]")
"""A number, a flag or a date."""


class _Scanner:
    """Walks over a text that is known to be TOML, so that nothing has to be refused."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lists: dict[Key, int] = {}
        """The number of tables that each `[[list]]` has so far."""
        self.found: dict[Key, tuple[int, int]] = {}

    def document(self) -> None:
        table: Key = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Key:
        begin = self._at
        many = self._text.startswith("[[", begin)
        self._at += 2 if many else 1
        path = self._path()
        self._at += 2 if many else 1
        table: Key = ()
        for i, part in enumerate(path):
            table = (*table, part)
            self._note(table, begin)
            if many and i == len(path) - 1:
                self._lists[table] = self._lists.get(table, 0) + 1
            if table in self._lists:
                table = (*table, self._lists[table] - 1)
                self._note(table, begin)
        return table

    def _pair(self, table: Key) -> None:
        begin = self._at
        path = self._path()
        self._at += 1  # =
        self._skip(_SPACE)
        self._value((*table, *path))
        for length in range(1, len(path) + 1):
            self._note((*table, *path[:length]), begin)

    def _path(self) -> list[str]:
        path = []
        while True:
            self._skip(_SPACE)
            if self._text[self._at] in "\"'":
                path.append(str(tomllib.loads(f"key = {self._take(_STRING)}")["key"]))
            else:
                path.append(self._take(_BARE))
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return path
            self._at += 1

    def _value(self, key: Key) -> None:
        match self._text[self._at]:
            case "[":
                self._list(key)
            case "{":
                self._inline_table(key)
            case '"' | "'":
                self._take(_STRING)
            case _:
                self._take(_PLAIN)

    def _list(self, key: Key) -> None:
        self._at += 1
        index = 0
        while self._text[self._skip(_BLANK)] != "]":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            begin = self._at
            self._value((*key, index))
            self._note((*key, index), begin)
            index += 1
        self._at += 1

    def _inline_table(self, key: Key) -> None:
        self._at += 1
        while self._text[self._skip(_BLANK)] != "}":
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._pair(key)
        self._at += 1

    def _note(self, key: Key, begin: int) -> None:
        self.found.setdefault(key, (begin, self._at))

    def _skip(self, pattern: re.Pattern[str]) -> int:
        return self._take_end(pattern)

    def _take(self, pattern: re.Pattern[str]) -> str:
        begin = self._at
        return self._text[begin : self._take_end(pattern)]

    def _take_end(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._at
