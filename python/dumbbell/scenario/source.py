"""Where a scenario's values stand, so that an error can point at them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from dumbbell.errors import Problem

Key = tuple[str | int, ...]
"""The way to a value: `("flows", 1, "cc")` is printed as `flows.1.cc`."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a scenario's value, or with one that is missing."""

    key: Key
    wrong: str
    expected: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Source:
    """A scenario's file (if it came from one), its values after overrides, and the overrides."""

    name: str = "scenario"
    """Path of the file, or a bundled scenario's name."""
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    overrides: Mapping[Key, str] = field(default_factory=dict)
    """What was set outside the file, as it was written there."""
    folder: Path = Path()
    """Where relative paths in the scenario begin."""

    def problem(self, finding: Finding) -> Problem:
        """The finding in words: file and line, key, value, what is wrong, what was expected."""
        found, value = lookup(self.data, finding.key)
        subject = dotted(finding.key)
        if finding.key in self.overrides:
            subject = ""  # The override says it.
        elif found == len(finding.key) and not isinstance(value, dict | list):
            subject = f"{subject} = {show(value)}"
        place = self.place(finding.key)
        what = ": ".join(part for part in (place, subject, finding.wrong) if part)
        return Problem(what, f"expected {finding.expected}" if finding.expected else "", finding.hint)

    def place(self, key: Key) -> str:
        """The override that set the value, or the file and the line where it (or the table that lacks it) begins."""
        for length in range(len(key), 0, -1):
            if key[:length] in self.overrides:
                return self.overrides[key[:length]]
        found, _ = lookup(self.data, key)
        line = line_of(self.text, key[:found])
        return f"{self.name}:{line}" if line else self.name


def dotted(key: Key) -> str:
    """`("hosts", "sysctl", "net.ipv4.tcp_rmem")` -> `hosts.sysctl."net.ipv4.tcp_rmem"`."""
    return ".".join(json.dumps(part) if isinstance(part, str) and "." in part else str(part) for part in key)


def show(value: object) -> str:
    """A value as TOML writes it."""
    match value:
        case str() | bool():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(show, value))}]"
        case dict():
            return f"{{ {', '.join(f'{dotted((key,))} = {show(part)}' for key, part in value.items())} }}"
    return str(value)


def lookup(data: Any, key: Key) -> tuple[int, Any]:
    """Follow a key as far as it leads: how many steps, and what is there."""
    for steps, part in enumerate(key):
        if isinstance(data, list):
            data = dict(enumerate(data))
        if not isinstance(data, Mapping) or part not in data:
            return steps, data
        data = data[part]
    return len(key), data


@lru_cache(maxsize=64)
def line_of(text: str, key: Key) -> int | None:
    """The line (from 1) where a key's statement begins.

    tomllib tells no positions. But the statement that brings the key into being ends where the file, cut after that
    line, first parses and has the key; it begins after the last line before it where the file parsed, too.
    """
    if not key:
        return None
    begin, lines = 0, text.splitlines(keepends=True)
    for end in range(1, len(lines) + 1):
        try:
            data = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if lookup(data, key)[0] == len(key):
            return begin + 1
        begin = end
    return None
