"""Labs of Kathará (`lab.conf` and `NAME.startup` beside it) as scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from dumbbell import inputs
from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign import frr, network
from dumbbell.scenario.file.foreign.commands import settings
from dumbbell.scenario.file.foreign.frr import Files
from dumbbell.scenario.file.foreign.mended import mended
from dumbbell.scenario.file.foreign.network import End, Link, Node
from dumbbell.scenario.file.foreign.notes import LARGEST, Notes, Room, checked, free

_LINE: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\[([^\]]+)\]\s*=(.*)")
_COMMENT: Final = re.compile(r"(?<!\s)\s+#")
_ABOUT: Final = re.compile(r"\s*LAB_[A-Z]+\s*=.*")
_MAC: Final = re.compile(r"/[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")


def of_folder(text: str, name: str, folder: Path, home: Path) -> tuple[str, list[str]]:
    """The scenario of a `lab.conf` with the files beside it: `NAME.startup`, and `NAME/etc/frr/frr.conf`.

    Args:
        text: of `lab.conf`.
        name: the scenario's name.
        folder: that of `lab.conf`.
        home: the folder of the scenario, which names files from there.

    Raises:
        InputError: as `scenario`, or a file cannot be read.
    """
    startups = {file.stem: file for file in folder.glob("*.startup") if frr.is_below(file, folder)}

    def startup(machine: str) -> str | None:
        file = startups.get(machine)
        return None if file is None else inputs.read_named(file, LARGEST, file.name)

    return scenario(text, name, startup, frr.beside(folder, home))


def scenario(
    text: str,
    name: str,
    startup: Callable[[str], str | None],
    files: Files = frr.none,
) -> tuple[str, list[str]]:
    """The scenario that a `lab.conf` makes, and the notes that stand in it.

    Args:
        text: the file.
        name: the scenario's name.
        startup: the text of a machine's `NAME.startup`; `None` if it has none.
        files: those beside the file.

    Raises:
        InputError: it is no such file, or its names cannot be kept.
    """
    notes, room = Notes(), Room()
    domains, keys = _read(text, notes)
    nodes: dict[str, Node] = {}
    ports: dict[str, set[str]] = {}
    for machine, port in (end for ends in domains.values() for end in ends):
        ports.setdefault(machine, set()).add(port)
    for machine, own in keys.items():
        lines = (startup(machine) or "").splitlines() + own.pop("exec", [])
        room.take(lines)
        done = settings(lines)
        # Machines of Kathará forward packets.
        node = nodes[checked(machine, nodes)] = Node("router" if len(ports.get(machine, ())) > 1 else "host", done)
        if node.kind == "router":
            network.bridge(node, ports[machine])
        if node.kind == "router":
            frr.configure(node, f"{machine}/etc/frr/frr.conf", files)
        for key, values in own.items():
            node.comments += [f"Kathará has {key} = {value}" for value in values]
            notes.add(f"the key {key} of machines is left out")
    if any(node.kind == "router" and not node.keys for node in nodes.values()):
        notes.add("machines with several interfaces are routers, with shortest paths until `routing` names protocols")
    links: list[Link] = []
    numbers = count(1)
    for domain, ends in domains.items():
        if len(ends) == 2:
            links.append(Link((ends[0], ends[1])))
        else:
            switch = free(domain, nodes, numbers)
            nodes[switch] = Node("switch", comments=[f"Kathará's collision domain {domain}"])
            links += [Link((end, (switch, f"port{number}"))) for number, end in enumerate(ends)]
    return network.text(name, "Kathará", nodes, mended(nodes, links, notes), notes)


def _read(text: str, notes: Notes) -> tuple[dict[str, list[End]], dict[str, dict[str, list[str]]]]:
    """The ends in each collision domain, and the other keys of each machine, in the order of the file."""
    domains: dict[str, list[End]] = {}
    keys: dict[str, dict[str, list[str]]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = _uncommented(line)
        if not line.strip() or _ABOUT.fullmatch(line):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            why = f"line {number} cannot be read: {line.strip()[:60]}"
            raise InputError("not a Kathará file", why, 'its lines are such as pc1[0]="A"')
        machine, key, value = match[1], match[2].strip(), match[3].strip().strip("\"'")
        own = keys.setdefault(machine, {})
        if not key.isdigit():
            own.setdefault(key.strip("\"'"), []).append(value)
            continue
        if _MAC.search(value):
            notes.add("MAC addresses are left out: they are assigned")
        domains.setdefault(_MAC.sub("", value), []).append((machine, f"eth{key}"))
    if not keys:
        raise InputError("not a Kathará file", "it has no machine", 'its lines are such as pc1[0]="A"')
    return domains, keys


def _uncommented(line: str) -> str:
    """The line without its comment, which begins with a `#` before all else, or behind a space and the last quote."""
    if line.lstrip().startswith("#"):
        return ""
    comment = _COMMENT.search(line, max(line.rfind('"'), line.rfind("'")) + 1)
    return line[: comment.start()] if comment else line
