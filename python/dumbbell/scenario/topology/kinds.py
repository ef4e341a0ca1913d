"""The kinds of networks: a line for each."""

from __future__ import annotations

from typing import Final, get_args

from dumbbell.scenario.topology.drawing import AnyTopology
from dumbbell.scenario.topology.dumbbell import Dumbbell, Path
from dumbbell.scenario.topology.fat_tree import FatTree
from dumbbell.scenario.topology.graph import Graph
from dumbbell.scenario.topology.linear import Linear
from dumbbell.scenario.topology.parking_lot import ParkingLot
from dumbbell.scenario.topology.star import Star
from dumbbell.scenario.topology.torus import Torus
from dumbbell.scenario.topology.tree import Tree

Topology = (
    Dumbbell
    | Path
    | Graph
    | ParkingLot
    | Star
    | Linear
    | Tree
    | Torus
    | FatTree
)  # fmt: skip

KINDS: Final[dict[str, type[AnyTopology]]] = {
    get_args(kind.model_fields["kind"].annotation)[0]: kind for kind in get_args(Topology)
}
"""The kinds by their names."""
