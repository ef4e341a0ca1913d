"""Configurations of FRRouting beside a file of another program: they become those of the scenario's routers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final

from dumbbell import inputs
from dumbbell.routing.registry import DAEMONS
from dumbbell.scenario.file.foreign.commands import Settings, add_address
from dumbbell.scenario.file.foreign.network import Node
from dumbbell.scenario.file.foreign.notes import LARGEST

Files = Callable[[str], tuple[str, str] | None]
"""A path beside the imported file -> the path as the scenario names it, and the text; `None`: there is no such file."""

STARTS: Final = re.compile(
    r"^(?>.*?(?:systemctl|service|/etc/init\.d/|rc-service)\b)(?>.*?\bfrr\b).*?\bstart|start frr\b", re.MULTILINE
)
"""A command that starts the daemons, which every router with a configuration has."""

_LOGS: Final = re.compile(r"(?m)^[^\S\n]*+log file /var/log/frr/[^/\s]+")
"""A log in the folder that FRR's package makes, where several routers of a machine would write at once."""


def none(_: str) -> None:
    """Has no file."""


def is_below(file: Path, folder: Path) -> bool:
    """True unless a link leads out of the folder: lines of the file become part of the scenario."""
    return file.resolve().is_relative_to(folder.resolve())


def beside(folder: Path, home: Path) -> Files:
    """The files below a folder.

    Args:
        folder: that of the imported file.
        home: that of the scenario, which names files from there.
    """

    def read(path: str) -> tuple[str, str] | None:
        """Raises `InputError` if the file cannot be read."""
        file = folder / path
        if PurePath(path).is_absolute() or ".." in PurePath(path).parts or not file.is_file():
            return None
        if not is_below(file, folder):
            return None
        return os.path.relpath(file.absolute(), home.absolute()), inputs.read_named(file, LARGEST, path)

    return read


def configure(node: Node, path: str, files: Files) -> bool:
    """Give a router the configuration in a file, and the addresses that it has there. False: there is no such file."""
    if (given := files(path)) is None:
        return False
    name, text = given
    protocols = [one for one in DAEMONS if re.search(rf"(?m)^router {one}\b", text)]
    node.keys |= {"frr": json.dumps(name), "routing": json.dumps(protocols or "static")}
    if _LOGS.search(text):
        node.keys["private"] = '["/var/log/frr"]'
    node.settings.rest = [command for command in node.settings.rest if not STARTS.search(command)]
    _take_addresses(text, node.settings)
    return True


def _take_addresses(text: str, settings: Settings) -> None:
    for interface, address in _addresses(text):
        if address not in settings.addresses.get(interface, ()):
            with suppress(ValueError):  # No address of a link: FRR says what it thinks of it.
                add_address(settings, interface, address)


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    """Interfaces and addresses of a configuration, as they stand there."""
    interface = None
    for line in text.splitlines():
        match line.split():
            case ["interface", name, *_]:
                interface = name
            case ["ip" | "ipv6", "address", address, *_] if interface is not None:
                yield interface, address
            case ["router" | "exit", *_]:
                interface = None
