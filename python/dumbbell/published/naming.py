"""The parts that a text names, and links to them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

_WORD: Final = re.compile(r"(?<![\w.-])-?\w+(?:-\w+)*")


def named(text: str, names: Collection[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Each place where a text names a part, and the part.

    A name with a hyphen is one everywhere, another one only in a list after "part" or "parts": "table" may be a table.
    In such a list `-google` stands for all parts that end so, and the first of them is given.
    """
    in_list, end = False, 0
    for word in _WORD.finditer(text):
        said = word[0]
        goes_on = in_list and text[end : word.start()] in (" ", ", ")
        part = _part(said, names) if goes_on or "-" in said[1:] else None
        if part is not None and (goes_on or part == said):
            yield word, part
        in_list = said.lower() in ("part", "parts") or (goes_on and (part is not None or said in ("and", "or")))
        end = word.end()


def _part(named: str, names: Collection[str]) -> str | None:
    return next((name for name in names if name == named or (named[0] == "-" and name.endswith(named))), None)


def linked(text: str, anchors: Mapping[str, str]) -> str:
    """The text with a link to each part that it names. `anchors`: part -> where it is on the page."""
    said, end = [], 0
    for word, part in named(text, anchors):
        said.append(f"{text[end : word.start()]}[{word[0]}](#{anchors[part]})")
        end = word.end()
    return "".join(said) + text[end:]
