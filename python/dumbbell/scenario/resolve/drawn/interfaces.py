"""The interfaces of a drawn network's nodes, and the broadcast domains that cables and switches make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.scenario.topology.drawing import Drawing
from dumbbell.scenario.topology.nodes import AnyInterface, Host, Switch


@dataclass(frozen=True)
class Port:
    """An end of a cable at a host or a router."""

    node: str
    cable: int
    """Its index in the drawing."""
    end: int
    """0 or 1: its index in `between`."""
    name: str
    """`eth0`, `eth1`, ... in the order of the node's cables."""
    given: tuple[AnyInterface, ...]
    """The addresses that the scenario gives it."""


@dataclass(frozen=True)
class Domain:
    """Ports that a broadcast reaches from any of them."""

    ports: tuple[Port, ...]
    """In the order of the cables."""
    has_switch: bool


def domains(drawing: Drawing) -> list[Domain]:
    """All broadcast domains with ports, in the order of their first cables."""
    ports = _ports(drawing)
    # A switch joins all its cables; another node's end belongs to its cable alone.
    roots = list(range(len(drawing.cables)))

    def root(cable: int) -> int:
        while roots[cable] != cable:
            roots[cable] = roots[roots[cable]]
            cable = roots[cable]
        return cable

    first: dict[str, int] = {}
    switched: set[int] = set()
    for index, cable in enumerate(drawing.cables):
        for name in cable.between:
            if isinstance(drawing.nodes[name], Switch):
                switched.add(index)
                roots[root(index)] = root(first.setdefault(name, index))
    members: dict[int, list[Port]] = {}
    has_switch: dict[int, bool] = {}
    for index in range(len(drawing.cables)):
        here = root(index)
        members.setdefault(here, [])
        has_switch[here] = has_switch.get(here, False) or index in switched
    for port in ports:
        members[root(port.cable)].append(port)
    return [Domain(tuple(found), has_switch[here]) for here, found in members.items() if found]


def _ports(drawing: Drawing) -> Sequence[Port]:
    count: dict[str, int] = {}
    found = []
    for index, cable in enumerate(drawing.cables):
        for end, name in enumerate(cable.between):
            node = drawing.nodes[name]
            if isinstance(node, Switch):
                continue
            number = count.get(name, 0)
            count[name] = number + 1
            given = list(cable.addresses[end]) if cable.addresses else []
            if not given and number == 0 and isinstance(node, Host) and node.address:
                given = list(node.address)
            found.append(Port(name, index, end, f"eth{number}", tuple(given)))
    return found
