"""The configurations of routers that somebody has typed: those that run, where they are not what the scenario says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.errors import RunFailed
from dumbbell.labs.network import Network
from dumbbell.labs.program import Program

_OF_FRR: Final = re.compile(
    r"(frr (version|defaults)|hostname|service integrated|username|log|no ipv6? forwarding|exit|end)\b.*|!.*"
)
"""Lines that FRRouting writes of itself, and those that end blocks."""
_BEGINS: Final = "Current configuration:"

Command = tuple[str, ...]
"""A command with the blocks that it stands in: `("router bgp 1", "network ...")`."""


def typed(lab: Path) -> dict[str, str]:
    """Router -> its running configuration, of routers whose commands are not those of the scenario.

    FRRouting orders lines as it likes: commands count, each within its block. A router whose daemons do not run has
    nothing to be asked.
    """
    found: dict[str, str] = {}
    for name, node in Network.of(lab).planned.items():
        if node.get("routing"):
            text = running(lab, name)
            if text is not None and commands(text) != commands(node["routing"]["config"]):
                found[name] = text
    return found


def free_file(scenario: Path, router: str) -> Path:
    """Returns a new file beside a scenario for the configuration of a router: `r1.conf`, if it is free."""
    names = (f"{router}.conf", *(f"{scenario.stem}-{router}{number}.conf" for number in ("", *range(2, 1000))))
    return next(path for path in map(scenario.with_name, names) if not os.path.lexists(path))


def running(lab: Path, router: str) -> str | None:
    """The running configuration of a router; `None`: no daemon of it answers."""
    try:
        with Program(lab, router, ["vtysh", "-c", "show running-config"]) as program:
            done = program.wait()
    except RunFailed:
        return None
    _, _, text = done.stdout.partition(_BEGINS)
    return f"{text.strip()}\n" if text.strip() else None


def commands(text: str) -> set[Command]:
    """The commands of a configuration."""
    return set(_commands(text))


def ordered(text: str) -> list[Command]:
    """The commands of a configuration in their order, each once."""
    return list(dict.fromkeys(_commands(text)))


def _commands(text: str) -> Iterator[Command]:
    blocks: list[tuple[int, str]] = []
    for line in text.splitlines():
        command = " ".join(line.split())
        if not command or _OF_FRR.fullmatch(command):
            continue
        depth = len(line) - len(line.lstrip())
        while blocks and blocks[-1][0] >= depth:
            blocks.pop()
        blocks.append((depth, command))
        yield tuple(name for _, name in blocks)
