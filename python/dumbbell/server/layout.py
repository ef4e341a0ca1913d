"""Where nodes are drawn: `mine.layout.json` beside `mine.toml`. Integers, sorted keys; deleting it loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import ValidationError

from dumbbell.server.messages import Annotation, Layout, Point


def read(text: str) -> Layout:
    """The layout in a file's text. Raises `ValueError` if it is none."""
    try:
        found = json.loads(text)
        return Layout.model_validate(found if isinstance(found, dict) else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"]) from None


def write(layout: Layout) -> str:
    """The text of the file; empty if there is nothing to keep."""
    if not layout.nodes and not layout.annotations:
        return ""
    found = layout.model_dump(mode="json")
    if not layout.annotations:
        del found["annotations"]
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def moved(layout: Layout, nodes: Mapping[str, Point]) -> Layout:
    """The layout with nodes elsewhere."""
    return layout.model_copy(update={"nodes": {**layout.nodes, **nodes}})


def without(layout: Layout, node: str) -> Layout:
    """The layout without a node."""
    return layout.model_copy(update={"nodes": {name: at for name, at in layout.nodes.items() if name != node}})


def renamed(layout: Layout, node: str, to: str) -> Layout:
    """The layout in which a node has another name."""
    if node not in layout.nodes:
        return layout
    return layout.model_copy(update={"nodes": {to if n == node else n: at for n, at in layout.nodes.items()}})


def annotated(layout: Layout, annotations: list[Annotation]) -> Layout:
    """The layout with other annotations."""
    return layout.model_copy(update={"annotations": annotations})
