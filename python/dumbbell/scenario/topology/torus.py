"""A torus of bridges."""

from __future__ import annotations

from itertools import product
from typing import Literal, Self

from pydantic import Field, model_validator

from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import Drawing, Drawn, Pencil, check_hosts


class Torus(Drawn):
    """Bridges in rows and columns that are rings, with hosts at each; a spanning tree breaks the loops."""

    kind: Literal["torus"] = Field(
        description="Bridges of Linux s1x1, s1x2, ... in rows and columns that are rings, with a spanning tree. h1x2 "
        "is at s1x2; with several hosts at each, these are h1x2x1, h1x2x2, ..."
    )
    rows: int = Field(ge=3, le=40, strict=True, description="Number of rows.", examples=[3])
    columns: int = Field(ge=3, le=40, strict=True, description="Number of columns.", examples=[3])
    each: int = Field(default=1, ge=1, le=250, strict=True, description="Number of hosts at each switch.")
    link: CableKeys = Field(default=CableKeys(), description="The links between hosts and the network's nodes.")
    trunk: CableKeys = Field(default=CableKeys(), description="The links between switches.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        switches = self.rows * self.columns
        check_hosts(f"{self.each} at each of {switches} switches", self.each * switches, "lower each, rows or columns")
        return self

    def draw(self) -> Drawing:
        """Row by row, each bridge with its links to the right and down."""
        pencil = Pencil()
        places = list(product(range(1, self.rows + 1), range(1, self.columns + 1)))
        numbers = range(1, self.each + 1)
        hosts = {at: [pencil.host(self._host(at, number)) for number in numbers] for at in places}
        switches = {at: pencil.switch(f"s{at[0]}x{at[1]}", bridge=True, stp=True) for at in places}
        for at in places:
            for host in hosts[at]:
                pencil.cable(host, switches[at], self.link, "link")
        for row, column in places:
            for other in ((row, column % self.columns + 1), (row % self.rows + 1, column)):
                pencil.cable(switches[row, column], switches[other], self.trunk, "trunk")
        return pencil.done()

    def _host(self, at: tuple[int, int], number: int) -> str:
        return f"h{at[0]}x{at[1]}" + ("" if self.each == 1 else f"x{number}")
