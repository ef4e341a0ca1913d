"""Writes the scenario of a lab that a program draws as people write it: a line for each node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell import outputs
from dumbbell.errors import InputError
from dumbbell.labs.build import LabScenario
from dumbbell.scenario.file.writing import names_files


def save(scenario: LabScenario, file: Path) -> None:
    """Write `scenario` to a new file.

    Raises:
        InputError: it is there already, or names other files that it would not find from there.
    """
    source = scenario.source
    if file.absolute().parent != source.folder.absolute() and names_files("topology", source.data["topology"]):
        why = f"the scenario names files, whose paths begin in {source.folder.absolute()}"
        raise InputError(f"cannot write {file}", why, "write it there")
    text = source.text if source.text and not source.overrides else _text(source.data)
    outputs.write_new(file, text)


def _text(data: Mapping[str, Any]) -> str:
    """TOML with an inline table for each node, and a `[[topology.links]]` for each link, its ends first."""
    import tomlkit

    topology = dict(data["topology"])
    if "nodes" in topology:
        nodes = tomlkit.table()
        for name, keys in topology["nodes"].items():
            nodes[name] = tomlkit.inline_table()
            nodes[name].update(keys)
        topology["nodes"] = nodes
        topology["links"] = [{"between": link["between"], **link} for link in topology["links"]]
    return tomlkit.dumps({**data, "topology": topology})
