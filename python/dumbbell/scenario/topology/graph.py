"""A graph: any nodes, and any links between them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.drawing import Drawing, Drawn
from dumbbell.scenario.topology.nodes import Host, Router, Switch, node_tag

AnyNode = Annotated[
    Annotated[Host, Tag("@Host")] | Annotated[Switch, Tag("@Switch")] | Annotated[Router, Tag("@Router")],
    Discriminator(node_tag),
]


class Graph(Drawn):
    """Nodes and links as they are listed."""

    kind: Literal["graph"] = Field(description="The nodes and links that are listed.")
    nodes: dict[str, AnyNode] = Field(
        default={}, description="The nodes by name: at most 15 letters, digits, `_` and `-`."
    )
    links: list[Cable] = Field(default=[], description="The links.")

    def draw(self) -> Drawing:
        """The listed nodes and links."""
        return Drawing(self.nodes, self.links, [("topology", "links", i) for i in range(len(self.links))])
