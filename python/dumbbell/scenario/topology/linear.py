"""A line of switches."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, Self

from pydantic import Field, model_validator

from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import Drawing, Drawn, Pencil, check_hosts


class Linear(Drawn):
    """Switches s1..sN in a row, with one or several hosts at each."""

    kind: Literal["linear"] = Field(
        description="Switches s1..sN in a row, each with the host of its number; with several hosts at each, these are "
        "h1s1, h2s1, ..., h1s2, ..."
    )
    switches: int = Field(ge=1, le=1000, strict=True, description="Number of switches.", examples=[4])
    each: int = Field(default=1, ge=1, le=250, strict=True, description="Number of hosts at each switch.")
    link: CableKeys = Field(default=CableKeys(), description="The links between hosts and the network's nodes.")
    trunk: CableKeys = Field(default=CableKeys(), description="The links between switches.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_hosts(
            f"{self.each} at each of {self.switches} switches", self.each * self.switches, "lower each or switches"
        )
        return self

    def draw(self) -> Drawing:
        """The row, with its hosts."""
        pencil, numbers = Pencil(), range(1, self.switches + 1)
        hosts = [[pencil.host(self._name(host, at)) for host in range(1, self.each + 1)] for at in numbers]
        row = [pencil.switch(f"s{at}") for at in numbers]
        for here, switch in zip(hosts, row, strict=True):
            for host in here:
                pencil.cable(host, switch, self.link, "link")
        for left, right in pairwise(row):
            pencil.cable(left, right, self.trunk, "trunk")
        return pencil.done()

    def _name(self, host: int, switch: int) -> str:
        return f"h{switch}" if self.each == 1 else f"h{host}s{switch}"
