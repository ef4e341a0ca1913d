"""A path: two hosts and the bottleneck between them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dumbbell.scenario.links.link import Bottleneck
from dumbbell.scenario.topology.keys import AnyTopology
from dumbbell.units import Time


class Path(AnyTopology):
    """Two hosts, h1 and h2, and the bottleneck between them."""

    kind: Literal["path"] = Field(description="h1, the bottleneck, h2.")
    bottleneck: Bottleneck = Field(description="The link from h1 to h2, and back.")
    rtt: Time = Field(description="Base RTT without serialisation.")

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts, the sender first."""
        return ["h1", "h2"]
