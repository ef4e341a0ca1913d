"""The topology of a preset with its nodes and links written one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.scenario.resolve.drawn.network import delays
from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.drawing import AnyTopology, Drawing, Node
from dumbbell.scenario.topology.graph import Graph
from dumbbell.scenario.topology.nodes import Switch


def listed(topology: AnyTopology, written: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `[topology]` with `kind = "graph"` that draw the same network.

    Args:
        topology: the preset.
        written: its keys as they are written.
    """
    nodes, links = nodes_and_links(topology.drawing, written)
    general = {key: written[key] for key in written if key in Graph.model_fields and key not in ("kind", "link")}
    return {"kind": "graph", **general, "nodes": nodes, "links": links}


def nodes_and_links(drawing: Drawing, written: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Nodes and links of a preset, with the keys that are written."""
    nodes = {name: _node(node) for name, node in drawing.nodes.items()}
    tables = (written.get(str(key[-1])) for key in drawing.keys)
    links = [
        _link(cable, table if isinstance(table, dict) else {})
        for cable, table in zip(drawing.cables, tables, strict=True)
    ]
    return nodes, links


def _node(node: Node) -> dict[str, Any]:
    if isinstance(node, Switch):
        return {"kind": "switch"} | {key: True for key in ("bridge", "stp") if getattr(node, key)}
    return {} if node.kind == "host" else {"kind": node.kind}


def _link(cable: Cable, written: Mapping[str, Any]) -> dict[str, Any]:
    """The link with the keys that are written, and the delays that the preset works out."""
    named = {} if cable.name is None else {"name": cable.name}
    own: dict[str, Any] = {**named, "between": list(cable.between), **written}
    there, back = delays(cable)
    if there and "delay" not in cable.model_fields_set:
        own["delay"] = str(there)
    if back != there and "delay" not in cable.reverse.model_fields_set:
        own["reverse"] = {**own.get("reverse", {}), "delay": str(back)}
    return own
