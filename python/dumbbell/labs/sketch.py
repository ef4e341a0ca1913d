"""A network that a program draws, call by call. It is checked as a scenario file is; errors name the call."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.labs.build import LabScenario, of_draft
from dumbbell.scenario.file.loading import Draft, read
from dumbbell.scenario.file.overrides import Overrides
from dumbbell.scenario.file.toml import plain
from dumbbell.scenario.source import Key, show

_PACKAGE: Final = str(Path(__file__).parents[1])
GRAPH: Final = "graph"


class Sketch:
    """The nodes and links so far, and for each value the call that gave it."""

    def __init__(self, name: str, kind: str, keys: Mapping[str, Any], call: str, overrides: Overrides = ()) -> None:
        """A network of `kind` with these keys of `[topology]`.

        Args:
            name: the scenario's name.
            kind: of the network. Only a graph takes nodes and links.
            keys: of the topology.
            call: begins the calls that errors show, such as `Lab(`.
            overrides: values of the scenario that win over all others.
        """
        self.name = name
        self._data: dict[str, Any] = {"name": name, "topology": {"kind": kind}}
        self._topology: dict[str, Any] = self._data["topology"]
        self._places: dict[Key, str] = {}
        self._overrides = overrides
        self._note(("topology",), call, keys)
        self._topology.update(plain(keys))
        if kind == GRAPH:
            self._topology |= {"nodes": {}, "links": []}

    def node(self, kind: str, name: str, keys: Mapping[str, Any]) -> None:
        """Add a node. Raises `InputError` if there is one of this name."""
        self._check_open(f"lab.{kind}({show(name)})")
        nodes = self._topology["nodes"]
        if name in nodes:
            raise InputError(f"lab.{kind}({show(name)}): another node is called {name}", "names are unique")
        self._note(("topology", "nodes", name), f"lab.{kind}({show(name)}", keys)
        nodes[name] = {**({} if kind == "host" else {"kind": kind}), **plain(keys)}

    def link(self, ends: tuple[str, ...], keys: Mapping[str, Any]) -> int:
        """Add a link between two nodes, which may come later. Returns its number, from 0."""
        call = f"lab.link({', '.join(map(show, ends))}"
        self._check_open(f"{call})")
        if len(ends) != 2:
            raise InputError(f"{call}): {len(ends)} nodes", "a link joins two", 'write lab.link("h1", "s1")')
        links = self._topology["links"]
        key = ("topology", "links", len(links))
        self._note(key, call, keys)
        self._places[*key, "between"] = self._places[key]
        links.append({"between": list(ends), **plain(keys)})
        return len(links) - 1

    def draft(self) -> Draft:
        """Returns the drawing, not checked yet."""
        found = read(self._data)
        drawn = Draft("Lab()", "", found.data, found.folder, self._places)
        return drawn.with_values(self._overrides)

    def scenario(self) -> LabScenario:
        """Returns the drawing. Raises `ScenarioError` with all that is wrong with it."""
        return of_draft(self.draft())

    def _check_open(self, call: str) -> None:
        kind = self._topology["kind"]
        if kind != GRAPH:
            raise InputError(f"{call}: a network of kind {kind} has no more nodes and links", "", "begin with Lab()")

    def _note(self, key: Key, call: str, keys: Mapping[str, Any]) -> None:
        """Keep which call has given the values at `key`; `call` lacks its keys and its end."""
        where, comma = _caller(), "" if call.endswith("(") else ", "
        self._places[key] = f"{where}{call})"
        for name, value in keys.items():
            self._places[*key, name] = f"{where}{call}{comma}{name}={show(plain(value))})"


def _caller() -> str:
    """The file and line of the program that has called this package, as errors begin; empty at a prompt."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    file = frame.f_code.co_filename
    return "" if file.startswith("<") else f"{file}:{frame.f_lineno}: "
