"""Names that users give: of labs, runs, studies, tags, kernels, programs. Each is one part of a path, and one word."""

from __future__ import annotations

import re
from typing import Final

from dumbbell.errors import InputError

MOST: Final = 64
"""The most characters of a name."""
PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""A name as a regular expression, for schemas."""
_SHOWN: Final = 60


def is_name(text: object, most: int = MOST, also: str = "") -> bool:
    """True for at most `most` letters, digits, `.`, `_`, `-` and signs of `also`, the first a letter or a digit."""
    if not isinstance(text, str) or len(text) > most:
        return False
    return re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9._{re.escape(also)}-]*", text) is not None


def checked(kind: str, name: str, also: str = "") -> str:
    """The name of a `kind` that a user gave. Raises `InputError`."""
    if not is_name(name, also=also):
        signs = ", ".join(["_", ".", *also, "-"])
        raise InputError(
            f"{shortened(name)} cannot be the name of a {kind}",
            f"expected at most {MOST} letters, digits, {signs}, of which the first is a letter or a digit",
            f"choose another name, such as my-{kind.split()[-1]}",
        )
    return name


def shortened(name: str) -> str:
    """A name as errors quote it, whatever it holds."""
    if len(name) <= _SHOWN + 20:
        return repr(_shown(name))
    return f"{_shown(name[:_SHOWN])!r}... ({len(name):,} characters)"


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
