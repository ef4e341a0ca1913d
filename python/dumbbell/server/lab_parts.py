"""Nodes and links of a lab that the page adds and removes, with the checks and messages of the lab's shell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from dumbbell.errors import DumbbellError, InputError
from dumbbell.labs import rewire
from dumbbell.labs.shell.network import typed_keys
from dumbbell.server.lab_messages import AddLink, AddNode, PartKeys, RemoveLink, RemoveNode, Rewired
from dumbbell.server.labs import find


def router() -> APIRouter:
    """The routes that add and remove."""
    made = APIRouter(prefix="/api/labs")

    @made.post("/{lab}/add-node")
    def add_node(lab: str, asked: AddNode) -> Rewired:
        """Add a node, which comes up with its first link; that link, too, if a neighbour is named."""
        return add_node_with_link(find(lab), asked)

    @made.post("/{lab}/add-link")
    def add_link(lab: str, asked: AddLink) -> Rewired:
        """Add a link between two nodes."""
        return _rewired(*rewire.add_link(find(lab), asked.ends, _keys(asked.keys)))

    @made.post("/{lab}/remove-node")
    def remove_node(lab: str, asked: RemoveNode) -> Rewired:
        """Remove a node with its links. Programs in it are killed."""
        return _rewired((), rewire.remove_node(find(lab), asked.node))

    @made.post("/{lab}/remove-link")
    def remove_link(lab: str, asked: RemoveLink) -> Rewired:
        """Remove a link, in both directions."""
        return _rewired((), rewire.remove_link(find(lab), asked.of))

    return made


def add_node_with_link(lab: Path, asked: AddNode) -> Rewired:
    """Add a node, and its first link if a neighbour is named: both, or neither.

    Raises:
        InputError: there is a node of this name, there is no such neighbour, or the network cannot be so.
        RunFailed: the lab has ended, or refuses it.
    """
    node, link = _keys(asked.keys), _keys(asked.link)
    rewire.add_node(lab, asked.kind, asked.name, node)
    if asked.neighbour is None:
        return _rewired((), [])
    try:
        return _rewired(*rewire.add_link(lab, (asked.name, asked.neighbour), link))
    except DumbbellError:
        # The node still waits for a link, unless the kernel has refused only a part.
        if asked.name in rewire.waiting(lab):
            rewire.remove_node(lab, asked.name)
        raise


def _rewired(links: Sequence[str], left_to_do: list[str]) -> Rewired:
    return Rewired(links=list(links), left_to_do=left_to_do)


def _keys(given: PartKeys) -> dict[str, Any]:
    """The keys of fields and those that were typed as in the shell."""
    names, keys = typed_keys([*(f"{key}={value}" for key, value in given.fields.items()), *given.typed.split()])
    if names:
        raise InputError(f"{' '.join(names)} is no key", "keys and values are KEY=VALUE", "name=core mtu=9000")
    return keys
