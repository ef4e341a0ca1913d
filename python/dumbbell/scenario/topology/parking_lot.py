"""A parking lot: several bottlenecks in a row, which one flow crosses all, and others one each."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import Drawing, Drawn, Pencil


class ParkingLot(Drawn):
    """Routers n0..nN in a row with a bottleneck from each to the next.

    Hosts s0 and r0 are at both ends of the row; s1 and r1 at both ends of the first bottleneck, s2 and r2 of the
    second, and so on.
    """

    kind: Literal["parking-lot"] = Field(
        description="Routers n0..nN in a row, bottleneck1 to bottleneckN between them. Hosts s0 and r0 stand at the "
        "row's ends, s1 and r1 at the first bottleneck's ends, and so on."
    )
    bottlenecks: int = Field(default=3, ge=1, le=100, strict=True, description="Number of bottlenecks.")
    bottleneck: CableKeys = Field(description="Each of the bottlenecks: every key of a link.")
    link: CableKeys = Field(default=CableKeys(), description="The links between hosts and the network's nodes.")

    def draw(self) -> Drawing:
        """The routers in a row, with their hosts."""
        pencil, count = Pencil(), self.bottlenecks
        senders = [pencil.host(f"s{i}") for i in range(count + 1)]
        receivers = [pencil.host(f"r{i}") for i in range(count + 1)]
        row = [pencil.router(f"n{i}") for i in range(count + 1)]
        for i in range(count):
            pencil.cable(row[i], row[i + 1], self.bottleneck, "bottleneck", f"bottleneck{i + 1}")
        for i in range(count + 1):
            pencil.cable(senders[i], row[max(i - 1, 0)], self.link, "link")
            pencil.cable(row[i or count], receivers[i], self.link, "link")
        return pencil.done()
