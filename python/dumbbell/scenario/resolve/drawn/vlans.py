"""The VLANs of a drawn network: of each port of a bridge, and keys that make none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dumbbell.scenario.resolve.outline import PortVlans
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology.drawing import Structure
from dumbbell.scenario.topology.nodes import Switch

DEFAULT: Final = 1
"""The VLAN of frames without a tag where a link names none, as Linux has it."""


def is_bridge(drawing: Structure, name: str) -> bool:
    """True of a switch that is a bridge of Linux."""
    node = drawing.nodes[name]
    return isinstance(node, Switch) and node.bridge


def vlans(drawing: Structure) -> Mapping[int, PortVlans]:
    """Cable at a bridge -> the VLANs of its ports; empty if no link names any."""
    named = [number for cable in drawing.cables for number in (cable.vlan, *(cable.vlans or ())) if number is not None]
    if not named:
        return {}
    others = tuple(sorted({*named} - {DEFAULT}))
    found: dict[int, PortVlans] = {}
    for index, cable in enumerate(drawing.cables):
        bridges = [is_bridge(drawing, name) for name in cable.between]
        if cable.vlans is not None:
            found[index] = PortVlans(cable.vlan, tuple(sorted({*cable.vlans})))
        elif all(bridges) and cable.vlan is None:
            found[index] = PortVlans(DEFAULT, others)
        elif any(bridges):
            found[index] = PortVlans(DEFAULT if cable.vlan is None else cable.vlan, ())
    return found


def check_vlans(drawing: Structure) -> Iterator[Finding]:
    """VLANs of links that no bridge sorts."""
    for cable, key in zip(drawing.cables, drawing.keys, strict=True):
        a, b = cable.between
        bridges = [is_bridge(drawing, name) for name in cable.between]
        if cable.vlans is not None and not all(bridges):
            hint = f"write vlan = {cable.vlans[0] if cable.vlans else 10}; a router has a link for each VLAN"
            yield Finding((*key, "vlans"), f"{a} and {b} are not both bridges", "a link between two bridges", hint)
        elif cable.vlan is not None and not any(bridges):
            yield Finding(
                (*key, "vlan"), f"neither {a} nor {b} is a bridge", "a link of a bridge", _hint(drawing, a, b)
            )
        elif cable.vlans is not None and cable.vlan in cable.vlans:
            what = f"frames of VLAN {cable.vlan} have no tag, by vlan, and one, by vlans"
            yield Finding((*key, "vlans"), what, "each VLAN once", f"leave {cable.vlan} out of one of them")


def _hint(drawing: Structure, *names: str) -> str:
    switches = [name for name in names if isinstance(drawing.nodes[name], Switch)]
    return f'write {(switches or ["s1"])[0]} = {{ kind = "switch", bridge = true }}'


def lanes(cable: int, ports: Mapping[int, PortVlans]) -> tuple[int, ...]:
    """VLANs that cross a cable without mixing, or 0 where nobody sorts them."""
    return tuple(ports[cable]) if cable in ports else (0,)


def place(drawing: Structure, name: str, lane: int, ports: Mapping[int, PortVlans]) -> tuple[str, int]:
    """The part of a switch that joins the lanes of its cables: a bridge has one for each VLAN."""
    return name, lane if ports and is_bridge(drawing, name) else 0
