"""A network as a program in Python that draws it with `dumbbell.Lab`, and opens its shell."""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.labs.build import LabScenario
from dumbbell.labs.sketch import GRAPH
from dumbbell.scenario.file.toml import plain
from dumbbell.scenario.file.writing import names_files

KEPT: Final = {"name", "topology"}
"""The tables of a scenario that a lab's network has."""
WIDTH: Final = 100
"""Characters from which on a call stands on several lines."""


def program(scenario: LabScenario) -> tuple[str, list[str]]:
    """The program of the network of a scenario, and a sentence for each kind of thing that it lacks.

    Raises:
        InputError: the network stands in a file of its own.
    """
    data = plain(scenario.source.data)
    topology = dict(data["topology"])
    kind = topology.pop("kind", "dumbbell")
    if "file" in topology:
        why = f"the network stands in {topology['file']}"
        raise InputError("no program draws this network", why, f'dumbbell.Lab("{scenario.source.name}") has it')
    others = sorted(data.keys() - KEPT - {"duration"})
    notes = [f"the program has the network alone, without {', '.join(others)}"] if others else []
    if names_files("topology", data["topology"]):
        notes.append(f"paths of files begin where the program is started: {scenario.source.folder.absolute()}")
    name = {"name": data.get("name", "lab")}
    lines = ["import dumbbell", ""]
    if kind == GRAPH:
        nodes, links = topology.pop("nodes", {}), topology.pop("links", [])
        lines.append(f"lab = {_call('dumbbell.Lab', (), {**name, **topology})}")
        for node, keys in nodes.items():
            own = {key: value for key, value in keys.items() if key != "kind"}
            lines.append(_call(f"lab.{keys.get('kind', 'host')}", (node,), own))
        for link in links:
            own = {key: value for key, value in link.items() if key != "between"}
            lines.append(_call("lab.link", tuple(link["between"]), own))
    else:
        lines.append(f"lab = {_call('dumbbell.Lab.from_topology', (kind,), {**name, **topology})}")
    lines += ["", "with lab:", "    lab.start()", "    lab.shell()", ""]
    return "\n".join(lines), notes


def _call(function: str, names: tuple[str, ...], keys: Mapping[str, Any]) -> str:
    """A call, whose keys that are no names of Python stand in a dictionary."""
    plainly = {key: value for key, value in keys.items() if key.isidentifier() and not iskeyword(key)}
    rest = {key: value for key, value in keys.items() if key not in plainly}
    given = [*map(_text, names), *(f"{key}={_text(value)}" for key, value in plainly.items())]
    if rest:
        given.append(f"**{_text(rest)}")
    line = f"{function}({', '.join(given)})"
    return line if len(line) <= WIDTH else "\n".join([f"{function}(", *(f"    {one}," for one in given), ")"])


def _text(value: object) -> str:
    """A value as Python writes it, with the quotation marks that JSON has."""
    match value:
        case str() if value.isprintable() and '"' not in value and "\\" not in value:
            return f'"{value}"'
        case dict():
            return "{" + ", ".join(f"{_text(key)}: {_text(one)}" for key, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)
