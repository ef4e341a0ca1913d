"""Whether the kernel of this machine has what bridges of a scenario need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.errors import Problem
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.drawn.vlans import vlans
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.drawing import Structure

SYMBOLS: Final = Path("/proc/kallsyms")
"""The names of the kernel's functions; their addresses are hidden from users."""
FILTERS: Final = " br_vlan_filter_toggle"
"""A function of bridges that know VLANs."""
BRIDGES: Final = " br_add_bridge"
"""A function of all bridges."""


def check_bridges(scenario: Scenario, symbols: Path = SYMBOLS) -> Iterator[Problem]:
    """VLANs that the bridges of this machine's kernel do not know. A module that is not loaded may know them."""
    drawing = scenario.topology.drawing.structure
    if not vlans(drawing):
        return
    try:
        text = symbols.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if BRIDGES in text and FILTERS not in text:
        hint = "take a kernel with CONFIG_VLAN_8021Q and CONFIG_BRIDGE_VLAN_FILTERING, as distributions build it"
        what = "bridges of this machine's kernel know no VLANs"
        yield scenario.source.problem(Finding(first_vlan(drawing), what, "", hint))


def first_vlan(drawing: Structure) -> Key:
    """The first key that names a VLAN."""
    for cable, key in zip(drawing.cables, drawing.keys, strict=True):
        if cable.vlan is not None or cable.vlans is not None:
            return (*key, "vlans" if cable.vlan is None else "vlan")
    raise ValueError("no link names a VLAN")
