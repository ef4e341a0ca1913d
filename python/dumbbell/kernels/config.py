"""A kernel's configuration: `.config`, its lines, and what became of those that were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from dumbbell.errors import InputError

_LINE: Final = re.compile(r"(?:CONFIG_)?([A-Za-z0-9_]+)=(.*)")
_QDISC: Final = re.compile(r"CONFIG_NET_SCH_([A-Z0-9_]+)")
_NO_QDISC: Final = frozenset({"default", "fifo", "mqprio_lib"})
"""Symbols that are called like a queueing discipline."""


def lines(settings: Sequence[str]) -> tuple[str, ...]:
    """`HZ=1000`, `TCP_CONG_NV=n` as lines of a configuration. Raises `InputError`."""
    return tuple(line for setting in settings for line in _lines(setting))


def _lines(setting: str) -> list[str]:
    found = _LINE.fullmatch(setting.strip())
    if not found or not found[2]:
        raise InputError(
            f"--config {setting}: not a setting",
            "expected NAME=VALUE, a symbol of Linux's configuration and its value",
            "write --config HZ=1000, or --config TCP_CONG_NV=n",
        )
    name, value = found[1], found[2]
    if name == "HZ":
        # A choice: its symbol is what can be set.
        return [f"CONFIG_HZ_{value}=y", f"CONFIG_HZ={value}"]
    return [f"CONFIG_{name}={value}"]


def merged(ours: Iterable[str], users: Iterable[str]) -> str:
    """Lines to append to a configuration, in which the user's win."""
    taken = dict(line.split("=", 1) for line in users)
    if any(name.startswith("CONFIG_HZ_") for name in taken):
        ours = [line for line in ours if not line.startswith("CONFIG_HZ_")]
    kept = [line for line in ours if line.split("=", 1)[0] not in taken]
    return "\n".join([*kept, *(f"{name}={value}" for name, value in taken.items())]) + "\n"


def read(text: str) -> dict[str, str]:
    """The settings of a `.config`, by symbol."""
    return {f"CONFIG_{found[1]}": found[2] for line in text.splitlines() if (found := _LINE.fullmatch(line))}


def unmet(asked: Iterable[str], settings: Mapping[str, str]) -> list[str]:
    """The lines of `asked` that a configuration does not have. A symbol that is not set is `n`."""
    return [line for line in asked if settings.get(line.split("=", 1)[0], "n") != line.split("=", 1)[1]]


def qdiscs(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The queueing disciplines that are built in, sorted, as `tc` calls them."""
    names = {found[1].lower() for name, value in settings.items() if value == "y" and (found := _QDISC.fullmatch(name))}
    return tuple(sorted(names - _NO_QDISC | {"pfifo", "bfifo"}))
