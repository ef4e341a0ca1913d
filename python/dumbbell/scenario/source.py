"""The places of a scenario's values, so that an error can point at them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import Place, Problem
from dumbbell.frozen import dataclass
from dumbbell.scenario.spans import Key, spans

__all__ = ["Finding", "Key", "Source", "dotted", "leaves", "lookup", "show"]


MOST_FINDINGS: Final = 200
"""Findings that are told: a stranger's scenario may have a million."""
_LONGEST: Final = 4_000
"""Characters of each part of a problem: many findings may repeat a value or a name of a megabyte."""


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
    """Values that were set outside the file, as they were written."""
    folder: Path = Path()
    """The folder in which relative paths begin."""
    is_whole: bool = True
    """True if, but for the overrides, the values are all that the text has."""

    def problem(self, finding: Finding) -> Problem:
        """The finding in words: file and line, key, value, what is wrong, what was expected."""
        found, value = lookup(self.data, finding.key)
        subject = dotted(finding.key)
        if finding.key in self.overrides:
            subject = ""  # The override says it.
        elif found == len(finding.key) and not isinstance(value, dict | list):
            subject = f"{subject} = {show(value)}"
        place = self.place(finding.key)
        wrong, expected, hint = map(_short, (finding.wrong, finding.expected, finding.hint))
        what = ": ".join(part for part in (str(place), _short(subject), wrong) if part)
        why = f"expected {expected}" if expected else ""
        key = dotted(finding.key)
        return Problem(what, why, hint, wrong, key if len(key) <= _LONGEST else "", place)

    def place(self, key: Key) -> Place:
        """The override that set the value, or its place in the file, or the table there that lacks it."""
        for length in range(len(key), 0, -1):
            if key[:length] in self.overrides:
                return Place(option=self.overrides[key[:length]])
        found, _ = lookup(self.data, key)
        written = spans(self.text)
        if key not in written:
            for override, text in self.overrides.items():
                if override[: len(key)] == key:
                    # It has made the table, too.
                    return Place(option=text)
        span = written.get(key[:found])
        return Place(self.name, span.line, span.column, span.length) if span else Place(self.name)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def dotted(key: Key) -> str:
    """`("hosts", "sysctl", "net.ipv4.tcp_rmem")` -> `hosts.sysctl."net.ipv4.tcp_rmem"`."""
    return ".".join(str(part) if _BARE.fullmatch(str(part)) else json.dumps(part, ensure_ascii=False) for part in key)


def show(value: object) -> str:
    """A value as TOML writes it."""
    match value:
        case str() | bool():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(show, value))}]"
        case dict():
            return f"{{ {', '.join(f'{dotted((key,))} = {show(part)}' for key, part in value.items())} }}"
    try:
        return str(value)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits.
        return "a number of thousands of digits"


def leaves(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys of a scenario or a plan that hold no further keys, with their values: `("flows", "0", "cc")`, ...

    A congestion control is one value, whatever it is written as.
    """
    is_list = isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value)
    if at[-1:] == ("cc",) or not (is_list or (isinstance(value, Mapping) and (value or not at))):
        yield at, value
        return
    for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield from leaves(inner, (*at, str(key)))


def lookup(data: Any, key: Key) -> tuple[int, Any]:
    """Follow a key as far as it leads: how many steps, and what is there."""
    for steps, part in enumerate(key):
        if isinstance(data, list):
            known = isinstance(part, int) and 0 <= part < len(data)
        else:
            known = isinstance(data, Mapping) and part in data
        if not known:
            return steps, data
        data = data[part]
    return len(key), data
