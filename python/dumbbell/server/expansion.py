"""Makes a preset's network free: its nodes and links, written one by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from dumbbell.errors import InputError
from dumbbell.scenario.resolve.drawn.listed import nodes_and_links
from dumbbell.scenario.topology.graph import Graph
from dumbbell.scenario.topology.kinds import Topology
from dumbbell.scenario.traces import FOLDER
from dumbbell.server.draft import Draft

MOST_LINKS: Final = 2_000
"""The most links that are written one by one."""


_TOPOLOGY: Final = TypeAdapter[Topology](Annotated[Topology, Field(discriminator="kind")])


def topology_of(data: Mapping[str, Any], folder: Path) -> Topology:
    """The topology in a scenario's values, though the rest of it may be wrong. Raises `ValidationError`."""
    return _TOPOLOGY.validate_python(data.get("topology"), context={FOLDER: folder})


def expand_preset(draft: Draft, name: str, folder: Path) -> None:
    """Replace a preset's keys by `kind = "graph"` with nodes and links. Raises `InputError`."""
    try:
        topology = topology_of(draft.data, folder)
    except ValidationError:
        topology = None
    if topology is None or topology.drawing.wrong:
        hint = "repair its keys first"
        raise InputError(f"{name}: the topology has problems", "its nodes are not known", hint)
    if isinstance(topology, Graph):
        raise InputError("the network is free already", 'topology.kind = "graph"')
    written = dict(draft.data["topology"])
    nodes, links = nodes_and_links(topology.drawing, written)
    if len(links) > MOST_LINKS:
        raise InputError("the network is too large", f"{len(links):,} links; at most {MOST_LINKS:,} can be made free")
    general = Graph.model_fields.keys() & written.keys() - {"kind", "link"}
    for key in [key for key in written if key not in general and key != "kind"]:
        draft.unset(["topology", key])
    draft.set(["topology", "kind"], "graph")
    draft.set(["topology", "nodes"], nodes)
    draft.set(["topology", "links"], links)
