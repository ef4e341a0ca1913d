"""The interfaces of a drawn network's nodes, and the broadcast domains that cables and switches make of them."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.frozen import dataclass
from dumbbell.scenario.resolve.drawn.vlans import is_bridge, lanes, place, vlans
from dumbbell.scenario.topology.drawing import Structure
from dumbbell.scenario.topology.nodes import AnyInterface, Host, Switch

Lane = tuple[int, int]
"""A cable's index, and a VLAN that crosses it."""


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


def domains(drawing: Structure) -> list[Domain]:
    """All broadcast domains with ports, in the order of their first cables."""
    ports, sorted_by = _ports(drawing), vlans(drawing)
    # A switch joins all its cables, a bridge those of each VLAN; another node's end belongs to its cable alone.
    all_lanes = [(index, lane) for index in range(len(drawing.cables)) for lane in lanes(index, sorted_by)]
    roots = {lane: lane for lane in all_lanes}

    def root(lane: Lane) -> Lane:
        while roots[lane] != lane:
            roots[lane] = roots[roots[lane]]
            lane = roots[lane]
        return lane

    first: dict[tuple[str, int], Lane] = {}
    switched: set[int] = set()
    for here in all_lanes:
        for name in drawing.cables[here[0]].between:
            if isinstance(drawing.nodes[name], Switch):
                switched.add(here[0])
                roots[root(here)] = root(first.setdefault(place(drawing, name, here[1], sorted_by), here))
    members: dict[Lane, list[Port]] = {}
    has_switch: dict[Lane, bool] = {}
    for lane in all_lanes:
        here = root(lane)
        members.setdefault(here, [])
        has_switch[here] = has_switch.get(here, False) or lane[0] in switched
    for port in ports:
        # A host's frames have no tag.
        members[root((port.cable, lanes(port.cable, sorted_by)[0]))].append(port)
    return [Domain(tuple(found), has_switch[here]) for here, found in members.items() if found]


def _ports(drawing: Structure) -> Sequence[Port]:
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


def bridge_ports(drawing: Structure) -> dict[tuple[int, int], str]:
    """Cable and end at a bridge -> the port's name: `eth1`, `eth2`, ... in the order of the bridge's cables."""
    count: dict[str, int] = {}
    found = {}
    for index, cable in enumerate(drawing.cables):
        for end, name in enumerate(cable.between):
            if is_bridge(drawing, name):
                count[name] = count.get(name, 0) + 1
                found[index, end] = f"eth{count[name]}"
    return found
