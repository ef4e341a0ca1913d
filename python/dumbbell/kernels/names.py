"""Names of kernels, and versions of Linux."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dumbbell import inputs, names

DEFAULT: Final = "6.12"
"""The kernel of a run that names none."""
OLDEST: Final = (6, 1)
"""The first Linux that can be built: older ones have another form of time travel and of TCP's callbacks."""
BPF_SINCE: Final = (6, 4)
"""First Linux on which a BPF congestion control vanishes with the process that loaded it (links of struct_ops)."""

_LARGEST: Final = 16 << 20
"""More bytes than a Makefile has."""

Version = tuple[int, ...]


def checked(name: str) -> str:
    """A name that a user gave. Raises `InputError`."""
    return names.checked("kernel", name, also="+")


def is_name(text: str) -> bool:
    """True for what can be a kernel's name."""
    return names.is_name(text, also="+")


def version_of(text: str) -> Version:
    """`6.12.94` as (6, 12, 94); `6.16-rc1` as (6, 16)."""
    return tuple(int(part) for part in text.split("-")[0].split(".") if part.isdigit())


def version_in(makefile: str) -> str:
    """The version that the Makefile of a source tree states, `6.12.94`; empty if it is no such Makefile."""
    lines = re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)[ \t]*=[ \t]*(\S*)", makefile, re.MULTILINE)
    found: dict[str, str] = dict(lines)
    if not {"VERSION", "PATCHLEVEL"} <= found.keys():
        return ""
    numbers = [found["VERSION"], found["PATCHLEVEL"], found.get("SUBLEVEL", "")]
    return ".".join(number for number in numbers if number) + found.get("EXTRAVERSION", "")


def version_at(tree: Path) -> str:
    """The version of the source tree in a folder; empty if there is none."""
    try:
        return version_in(inputs.read(tree / "Makefile", _LARGEST).decode(errors="replace"))
    except OSError:
        return ""
