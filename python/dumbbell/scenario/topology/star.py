"""A star: hosts around one switch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import Drawing, Drawn, Pencil


class Star(Drawn):
    """Hosts h1..hN at the switch s1."""

    kind: Literal["star"] = Field(description="Hosts h1..hN at the switch s1.")
    size: int = Field(ge=1, le=2000, strict=True, description="Number of hosts.", examples=[10])
    link: CableKeys = Field(
        default=CableKeys(),
        description="The links between hosts and the network's nodes.",
    )

    def draw(self) -> Drawing:
        """The switch in the middle."""
        pencil = Pencil()
        hosts = [pencil.host(f"h{i}") for i in range(1, self.size + 1)]
        middle = pencil.switch("s1")
        for host in hosts:
            pencil.cable(host, middle, self.link, "link")
        return pencil.done()
