"""TOML as tomllib reads it, without the inputs at which it fails; and values of Python as TOML has them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from tomllib import TOMLDecodeError
from typing import Any, Final

__all__ = ["TOMLDecodeError", "parse", "plain"]

MOST_LEVELS: Final = 64
"""Tables and lists within each other. A scenario needs six."""

_LONG: Final = re.compile(r"(?<![0-9_])[0-9][0-9_]{4299,}+")
"""Python refuses to read integers of so many digits: it takes time that grows with their square."""

_WORD: Final = r"""(?:[\w-]++|"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+')"""
_DEEP: Final = re.compile(rf"(?<![\w\\.-])(?:{_WORD}[ \t]*+\.[ \t]*+){{{MOST_LEVELS}}}")
"""A key of so many words, for which tomllib takes memory that grows with their square.

No key begins behind a backslash: from each escaped quote of a string, the text to the end of the line would be read.
"""


def parse(text: str) -> dict[str, Any]:
    """The values of a TOML text. Raises `TOMLDecodeError` for any text that is refused."""
    if _DEEP.search(text):
        raise TOMLDecodeError(_TOO_DEEP)
    try:
        data = tomllib.loads(text)
    except TOMLDecodeError:
        raise
    except RecursionError:
        raise TOMLDecodeError(_TOO_DEEP) from None
    except ValueError:
        raise TOMLDecodeError(_too_long(text)) from None
    if _levels(data) > MOST_LEVELS:
        raise TOMLDecodeError(_TOO_DEEP)
    return data


_TOO_DEEP: Final = f"tables or lists are nested more than {MOST_LEVELS} deep"


def _too_long(text: str) -> str:
    match = _LONG.search(text)
    if match is None:
        return "a number has too many digits"
    line = text.count("\n", 0, match.start()) + 1
    column = match.start() - text.rfind("\n", 0, match.start())
    return f"a number has {len(match[0]):,} digits (at line {line}, column {column})"


def _levels(data: Any) -> int:
    """The depth to which tables and lists are nested, found without recursion."""
    levels, found = 0, [data]
    while found:
        levels += 1
        inner = [one.values() if isinstance(one, dict) else one for one in found if isinstance(one, dict | list)]
        found = [part for one in inner for part in one if isinstance(part, dict | list)]
    return levels


def plain(value: Any) -> Any:
    """A value from Python with the types that TOML has: numpy's numbers and arrays, tuples and paths become plain."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if hasattr(value, "tolist") else value
