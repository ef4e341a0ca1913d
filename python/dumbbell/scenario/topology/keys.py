"""The keys that all topologies have."""

from __future__ import annotations

from dumbbell.scenario.table import Table
from dumbbell.units.mtu import MTU


class AnyTopology(Table):
    """Keys that all topologies have."""

    kind: str

    @property
    def mtu(self) -> int:
        """The network's MTU, in bytes."""
        return MTU
