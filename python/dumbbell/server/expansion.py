"""Makes a preset's network free: its nodes and links, written one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from dumbbell.errors import InputError
from dumbbell.scenario.resolve import bottleneck
from dumbbell.scenario.topology.drawing import Drawn
from dumbbell.scenario.topology.dumbbell import Dumbbell
from dumbbell.scenario.topology.graph import Graph
from dumbbell.scenario.topology.kinds import Topology
from dumbbell.scenario.topology.path import Path
from dumbbell.scenario.traces import FOLDER
from dumbbell.server.draft import Draft
from dumbbell.units import Duration, Time

MOST_LINKS: Final = 2_000
"""The most links that are written one by one."""


_TOPOLOGY: Final = TypeAdapter[Topology](Annotated[Topology, Field(discriminator="kind")])


def topology_of(data: Mapping[str, Any], folder: FilePath) -> Topology:
    """The topology in a scenario's values, though the rest of it may be wrong. Raises `ValidationError`."""
    return _TOPOLOGY.validate_python(data.get("topology"), context={FOLDER: folder})


def expand_preset(draft: Draft, name: str, folder: FilePath) -> None:
    """Replace a preset's keys by `kind = "graph"` with nodes and links. Raises `InputError`."""
    try:
        topology = topology_of(draft.data, folder)
    except ValidationError:
        hint = "repair its keys first"
        raise InputError(f"{name}: the topology has problems", "its nodes are not known", hint) from None
    if isinstance(topology, Graph):
        raise InputError("the network is free already", 'topology.kind = "graph"')
    written = dict(draft.data["topology"])
    nodes, links = _drawn(topology, written) if isinstance(topology, Drawn) else _one_bottleneck(topology, written)
    if len(links) > MOST_LINKS:
        raise InputError("the network is too large", f"{len(links):,} links; at most {MOST_LINKS:,} can be made free")
    general = Graph.model_fields.keys() & written.keys() - {"kind", "link"}
    for key in [key for key in written if key not in general and key != "kind"]:
        draft.unset(["topology", key])
    draft.set(["topology", "kind"], "graph")
    draft.set(["topology", "nodes"], nodes)
    draft.set(["topology", "links"], links)


def _drawn(topology: Drawn, written: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    drawing = topology.drawing
    nodes = {name: {} if node.kind == "host" else {"kind": node.kind} for name, node in drawing.nodes.items()}
    links = []
    for cable, key in zip(drawing.cables, drawing.keys, strict=True):
        named = {} if cable.name is None else {"name": cable.name}
        links.append({**named, "between": list(cable.between), **(written.get(str(key[-1])) or {})})
    return nodes, links


def _one_bottleneck(
    topology: Dumbbell | Path, written: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    found = bottleneck.outline(topology, Duration(10**9), [])
    if found is None:
        raise InputError("the network's rtt has too few or too many values", "", "write one for all pairs")
    nodes = {node.name: {} if node.kind == "host" else {"kind": node.kind} for node in found.nodes}
    forward, reverse = (link.start.delay for link in found.links)
    own = dict(written["bottleneck"])
    back = {**own.pop("reverse", {}), "delay": str(reverse)}
    link = {"name": "bottleneck", "between": [found.links[0].from_, found.links[0].to], **own, "delay": str(forward)}
    middle = link if reverse == forward and set(back) == {"delay"} else {**link, "reverse": back}
    return nodes, [middle, *_access(topology, forward, reverse)]


def _access(topology: Dumbbell | Path, forward: Time, reverse: Time) -> Iterator[dict[str, Any]]:
    """The receiver's link has what the bottleneck leaves of the pair's RTT."""
    if isinstance(topology, Path):
        return
    for i, rtt in enumerate(bottleneck.rtts(topology), 1):
        rest = rtt - forward - reverse
        yield {"between": [f"s{i}", "left"]}
        there, back = Time(rest // 2), Time(rest - rest // 2)
        delays: dict[str, Any] = {"delay": str(there)} if rest else {}
        yield {"between": ["right", f"r{i}"], **delays, **({"reverse": {"delay": str(back)}} if there != back else {})}
