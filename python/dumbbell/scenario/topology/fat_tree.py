"""A fat tree, the network of a data centre (Al-Fares, Loukissas, Vahdat 2008)."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import SPREAD, Drawing, Drawn, Pencil, Spread
from dumbbell.units import QuantityError


def _even(value: object) -> object:
    if type(value) is int and value % 2:
        raise QuantityError("odd", "an even number of ports", "write k = 4")
    return value


class FatTree(Drawn):
    """k pods of k/2 edge and k/2 aggregation routers each, (k/2)^2 core routers, and k^3/4 hosts.

    Aggregation router j of each pod leads to the j-th k/2 core routers (section 2.2 of "A Scalable, Commodity Data
    Center Network Architecture", SIGCOMM 2008).
    """

    kind: Literal["fat-tree"] = Field(
        description="k pods of k/2 edge routers (e1-1, e1-2, ..., e2-1, ...) and k/2 aggregation routers (a1-1, ...), "
        "core routers c1, c2, ..., and k/2 hosts at each edge router: h1-2-1 is the first at e1-2."
    )
    k: Annotated[int, BeforeValidator(_even)] = Field(
        ge=2, le=16, strict=True, description="Ports of a router, even: there are k³/4 hosts.", examples=[4]
    )
    link: CableKeys = Field(default=CableKeys(), description="The links between hosts and the network's nodes.")
    spread: Spread = Field(default="destinations", description=SPREAD)
    trunk: CableKeys | None = Field(default=None, description="The links between routers. Default: as `link`.")

    def draw(self) -> Drawing:
        """Pod by pod.

        Subnets are numbered by what lies in one direction: the hosts of an edge router; then what lies behind one of
        its links upwards, the links of aggregation routers with one place in their pods.
        """
        pencil, half = Pencil(), self.k // 2
        trunk, key = (self.link, "link") if self.trunk is None else (self.trunk, "trunk")
        pods = range(1, self.k + 1)
        ports = range(1, half + 1)
        hosts = {(pod, i): [pencil.host(f"h{pod}-{i}-{n}") for n in ports] for pod in pods for i in ports}
        edges = {pod: [pencil.router(f"e{pod}-{i}") for i in ports] for pod in pods}
        middles = {(pod, j): pencil.router(f"a{pod}-{j}") for j in ports for pod in pods}
        cores = {(j, i): pencil.router(f"c{(j - 1) * half + i}") for j in ports for i in ports}
        leaves: list[int] = []
        behind: dict[tuple[int, str], list[int]] = {(j, level): [] for j in ports for level in ("edge", "core")}
        for pod in pods:
            for i, edge in enumerate(edges[pod], 1):
                leaves += [pencil.cable(host, edge, self.link, "link") for host in hosts[pod, i]]
                for j in ports:
                    behind[j, "edge"].append(pencil.cable(edge, middles[pod, j], trunk, key))
            for j, i in cores:
                behind[j, "core"].append(pencil.cable(middles[pod, j], cores[j, i], trunk, key))
        return pencil.done([*leaves, *chain.from_iterable(behind.values())])
