"""A tree of switches with hosts as its leaves."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import MOST_HOSTS, Drawing, Drawn, Pencil, check_hosts


class Tree(Drawn):
    """Switches in a tree: s1 is its root, hosts h1.. are its leaves, both numbered depth first."""

    kind: Literal["tree"] = Field(
        description="Switches in a tree, s1 its root, with hosts h1, h2, ... as its leaves; both are numbered depth "
        "first."
    )
    depth: int = Field(ge=1, le=10, strict=True, description="Levels of switches.", examples=[2])
    fanout: int = Field(ge=1, le=2000, strict=True, description="Nodes below each switch.", examples=[3])
    link: CableKeys = Field(default=CableKeys(), description="The links between hosts and the network's nodes.")
    trunk: CableKeys = Field(default=CableKeys(), description="The links between switches.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        what = f"fanout {self.fanout} and depth {self.depth}"
        check_hosts(what, self.fanout**self.depth, "lower depth or fanout")
        return self

    def draw(self) -> Drawing:
        """The tree from its root."""
        pencil = Pencil()
        hosts = [pencil.host(f"h{i}") for i in range(1, self.fanout**self.depth + 1)]
        leaves, numbers = iter(hosts), iter(range(1, 2 * MOST_HOSTS))

        def below(level: int) -> str:
            root = pencil.switch(f"s{next(numbers)}")
            for _ in range(self.fanout):
                if level == 1:
                    pencil.cable(root, next(leaves), self.link, "link")
                else:
                    pencil.cable(root, below(level - 1), self.trunk, "trunk")
            return root

        below(self.depth)
        return pencil.done()
