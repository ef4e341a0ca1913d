"""Directives by which a source in C makes a compiler read other files, whatever their spelling.

A source is one text once the files beside it are in their places (`source`). What it still includes must be headers
of dumbbell or of the system, named plainly: no other file may change what was agreed to, recorded or published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_BLANK: Final = r"[^\n!-~]"
"""White space of any compiler, and more."""
_SPLICE: Final = rf"(?:\\{_BLANK}*+\n)?"
"""A line may go on in the next one between any two characters."""
_COMMENT: Final = rf"/{_SPLICE}\*.{{0,80}}?\*{_SPLICE}/"
_GAP: Final = rf"(?:{_BLANK}++|\\{_BLANK}*+\n|{_COMMENT})"
_GAPS: Final = f"{_GAP}{{0,9}}+"
"""A longer gap counts as a directive that cannot be read, so that no text takes long."""
_WORD: Final = "|".join(map(_SPLICE.join, ("include_next", "include", "__include_macros", "import", "embed")))
_DIRECTIVE: Final = re.compile(
    rf"(?:^|\*{_SPLICE}/){_BLANK}*+(?P<sign>\#|%{_SPLICE}:|\?\?=){_GAPS}"
    rf"(?:(?:{_WORD})(?!\w){_GAPS}(?:<(?P<header>[^>\n]*)>|\"(?P<local>[^\"\n]*)\")?|{_GAP}|/{_SPLICE}\*)",
    re.MULTILINE | re.DOTALL,
)
_PLAIN: Final = re.compile(r"[\w.+-]+(/[\w.+-]+)*", re.ASCII)


def unbounded(text: str) -> Iterator[tuple[int, str]]:
    """The directives of a text that may read any file: the line of each, from 1, and what is wrong with it."""
    line, counted = 1, 0
    for found in _DIRECTIVE.finditer(text):
        name = found["header"] or found["local"]
        if name is None:
            wrong = "includes a file that only a compiler can name"
        elif ".." in name.split("/") or not _PLAIN.fullmatch(name):
            wrong = f"includes {name}, which is neither beside it nor a header's plain name"
        else:
            continue
        line, counted = line + text.count("\n", counted, found.start("sign")), found.start("sign")
        yield line, wrong
