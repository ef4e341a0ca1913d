"""Labs of Kathará (`lab.conf` and `NAME.startup` beside it) as scenarios."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign import network
from dumbbell.scenario.file.foreign.commands import settings
from dumbbell.scenario.file.foreign.network import End, Node
from dumbbell.scenario.file.foreign.notes import Notes, checked

_LINE: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\[([^\]]+)\]\s*=(.*)")
_COMMENT: Final = re.compile(r"(?<!\s)\s+#")
_ABOUT: Final = re.compile(r"\s*LAB_[A-Z]+\s*=.*")
_MAC: Final = re.compile(r"/[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")


def scenario(text: str, name: str, startup: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """The scenario that a `lab.conf` makes, and the notes that stand in it.

    Args:
        text: the file.
        name: the scenario's name.
        startup: the text of a machine's `NAME.startup`; `None` if it has none.

    Raises:
        InputError: it is no such file, or its names cannot be kept.
    """
    notes = Notes()
    domains, keys = _read(text, notes)
    nodes: dict[str, Node] = {}
    places = Counter(machine for ends in domains.values() for machine, _ in ends)
    for machine, own in keys.items():
        done = settings((startup(machine) or "").splitlines() + own.pop("exec", []))
        # Machines of Kathará forward packets.
        node = nodes[checked(machine, nodes)] = Node("router" if places[machine] > 1 else "host", done)
        for key, values in own.items():
            node.comments += [f"Kathará has {key} = {value}" for value in values]
            notes.add(f"the key {key} of machines is left out")
    if any(node.kind == "router" for node in nodes.values()):
        notes.add("machines with several interfaces are routers, with shortest paths until `routing` names protocols")
    links: list[tuple[End, End]] = []
    for domain, ends in domains.items():
        if len(ends) == 1:
            notes.add(f"collision domain {domain} has one machine: its interface is left out")
        elif len(ends) == 2:
            links.append((ends[0], ends[1]))
        else:
            switch = _free(domain, nodes)
            nodes[switch] = Node("switch", comments=[f"Kathará's collision domain {domain}"])
            links += [(end, (switch, f"port{number}")) for number, end in enumerate(ends)]
    return network.text(name, "Kathará", nodes, links, notes)


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
            why = f"line {number} is none of lab.conf: {line.strip()[:60]}"
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


def _free(domain: str, nodes: Mapping[str, Node]) -> str:
    """A name for the switch of a collision domain."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", domain)
    names = (f"lan-{plain}"[:15], *(f"lan-{number}" for number in range(1, len(nodes) + 2)))
    return next(one for one in names if one not in nodes)
