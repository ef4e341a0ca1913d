"""A graph: any nodes, and any links between them, listed or in a file."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from dumbbell.scenario.source import Key
from dumbbell.scenario.topology import graphml
from dumbbell.scenario.topology.cables import Cable, CableKeys
from dumbbell.scenario.topology.drawing import Drawing, Drawn
from dumbbell.scenario.topology.nodes import Host, Prefix, Router, Switch, node_tag
from dumbbell.scenario.traces import File, holding
from dumbbell.units import QuantityError

GraphFile = Annotated[File, holding(graphml.parsed)]

AnyNode = Annotated[
    Annotated[Host, Tag("@Host")] | Annotated[Switch, Tag("@Switch")] | Annotated[Router, Tag("@Router")],
    Discriminator(node_tag),
]


class Graph(Drawn):
    """Nodes and links as they are listed, or as a file has them."""

    kind: Literal["graph"] = Field(description="The nodes and links that are listed, or that a file has.")
    nodes: dict[str, AnyNode] = Field(
        default={}, description="The nodes by name: at most 15 letters, digits, `_` and `-`."
    )
    links: list[Cable] = Field(default=[], description="The links.")
    file: GraphFile | None = Field(
        default=None,
        description="GraphML file, such as those of the Internet Topology Zoo. Its nodes and links come before those "
        "that are listed. Default: none.",
        examples=["abilene.graphml"],
    )
    link: CableKeys = Field(
        default=CableKeys(), description="Keys of all links of `file`. They win over what the file says."
    )

    anycast: list[Prefix] = Field(
        default=[],
        description="Subnets that are in several places. Nodes at each may have the same addresses: routing daemons "
        "lead packets to the nearest. Default: none.",
        examples=[["192.0.2.0/24"]],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.file is None and "link" in self.model_fields_set:
            raise QuantityError("link without file", "keys of single links", "write them in [[topology.links]]")
        return self

    def draw(self) -> Drawing:
        """The file's nodes and links, then those that are listed."""
        keys: list[Key] = [("topology", "links", i) for i in range(len(self.links))]
        if self.file is None:
            return Drawing(self.nodes, self.links, keys, anycast=self.anycast)
        first = graphml.draw(self.file, self.link)
        nodes, cables = {**first.nodes, **self.nodes}, [*first.cables, *self.links]
        return Drawing(nodes, cables, [*first.keys, *keys], first.notes, anycast=self.anycast, spots=first.spots)
