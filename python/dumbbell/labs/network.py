"""The network of a lab as people speak of it: nodes, cables, interfaces, addresses."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest


@dataclass(frozen=True)
class Cable:
    """The two directions between two nodes, or the only one."""

    ends: tuple[str, str]
    links: tuple[str, ...]
    """Names of the links, first the one from the first end."""
    interfaces: tuple[str, str]
    """Its interfaces at its ends. Ports of switches are named eth1, eth2, ..., as Mininet names them."""

    def other(self, node: str) -> str:
        """The node at the other end."""
        return self.ends[1] if node == self.ends[0] else self.ends[0]

    @property
    def places(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Its ends with their interfaces."""
        return (self.ends[0], self.interfaces[0]), (self.ends[1], self.interfaces[1])

    def towards(self, node: str) -> tuple[str, ...]:
        """The link that leads to this end, if there is one."""
        return self.links[:1] if node == self.ends[1] else self.links[1:]

    def interface(self, node: str) -> str:
        """The interface at this end with its node, as Mininet writes it: `h1-eth0`."""
        return f"{node}-{self.interfaces[self.ends.index(node)]}"


class Network:
    """The nodes and cables of a plan."""

    def __init__(self, plan: dict[str, Any]) -> None:
        """Take `plan.json`."""
        self._nodes = {node["name"]: node for node in plan["nodes"]}
        self._links = plan["links"]

    @classmethod
    def of(cls, lab: Path) -> Network:
        """The network of the lab in this directory."""
        return cls(json.loads((lab / "plan.json").read_text(encoding="utf-8")))

    @property
    def nodes(self) -> list[str]:
        """The names of all nodes: hosts first, then routers, then bridges and switches."""
        order = ("host", "router", "bridge", "switch")
        return sorted(self._nodes, key=lambda name: order.index(self._nodes[name]["kind"]))

    @property
    def planned(self) -> Mapping[str, dict[str, Any]]:
        """The plan's nodes by name, as plan.json has them."""
        return self._nodes

    def kind(self, node: str) -> str:
        """`host`, `router`, `bridge` or `switch`."""
        return str(self._nodes[node]["kind"])

    @cached_property
    def hosts(self) -> list[str]:
        """The names of the hosts."""
        return [name for name in self.nodes if self.kind(name) == "host"]

    @cached_property
    def places(self) -> list[str]:
        """The names of the nodes in which programs run: hosts, routers and bridges."""
        return [name for name in self.nodes if self.kind(name) != "switch"]

    @cached_property
    def stations(self) -> list[str]:
        """The names of the nodes that have addresses: hosts and routers."""
        return [name for name in self.nodes if self.kind(name) in ("host", "router")]

    @cached_property
    def bridges(self) -> list[str]:
        """The names of the bridges of Linux."""
        return [name for name in self.nodes if self.kind(name) == "bridge"]

    @cached_property
    def outside(self) -> str | None:
        """The router that leads to this machine's network, if there is one."""
        return next((name for name, node in self._nodes.items() if node.get("nat")), None)

    def vlans(self, node: str, interface: str) -> tuple[int | None, list[int]] | None:
        """The VLANs of a bridge's port: of frames without a tag, and with one; `None`: it looks at no tags."""
        ports = self._nodes[node].get("interfaces") or []
        found = next((port.get("vlans") for port in ports if port["name"] == interface), None)
        return None if found is None else (found["untagged"], list(found["tagged"]))

    def address(self, node: str, ip: int = 4) -> str:
        """The address of a host, or of a router's first interface.

        Args:
            node: its name.
            ip: the version of IP. In IPv6 it is the address beside that of IPv4, to which flows go.

        Returns:
            The address; empty of a switch or bridge, and of a node without one of this version.
        """
        if ip == 6:
            return self._address_of_ipv6(node)
        if self.kind(node) == "router":
            held = (address.partition("/")[0] for _, own in self.interfaces(node) for address in own)
            return next((address for address in held if ":" not in address), str(self._nodes[node]["address"]))
        return str(self._nodes[node].get("address", ""))

    def _address_of_ipv6(self, node: str) -> str:
        address = self.address(node)
        # As `Node::address_of` of the crate `plan` has it.
        held = sorted((own for _, own in self.interfaces(node)), key=lambda own: not _has(own, address))
        return next((one.partition("/")[0] for own in held for one in own if ":" in one), "")

    def interfaces(self, node: str) -> list[tuple[str, list[str]]]:
        """The interfaces of a node, and the addresses of each."""
        given = self._nodes[node].get("interfaces") or []
        if given:
            return [(one["name"], list(one["addresses"])) for one in given]
        return [] if self.kind(node) == "switch" else [("eth0", [self.address(node)])]

    @cached_property
    def cables(self) -> list[Cable]:
        """All cables, in the order of the plan's links."""
        found: list[Cable] = []
        waiting: dict[tuple[Any, ...], dict[str, Any]] = {}
        order: list[tuple[dict[str, Any], dict[str, Any] | None]] = []
        for link in self._links:
            ends = (link["from"], link.get("from_interface"), link["to"], link.get("to_interface"))
            back = waiting.pop((*ends[2:], *ends[:2]), None)
            if back is None:
                waiting[ends] = link
                order.append((link, None))
            else:
                index = next(i for i, (first, second) in enumerate(order) if first is back and second is None)
                order[index] = (back, link)
        ports: dict[str, int] = {}

        def interface(link: dict[str, Any], end: str) -> str:
            node, given = link[end], link.get(f"{end}_interface")
            if given:
                return str(given)
            if self.kind(node) != "switch":
                return "eth0"  # A host of a core network has one interface.
            ports[node] = ports.get(node, 0) + 1
            return f"eth{ports[node]}"

        for first, second in order:
            names = (first["name"],) if second is None else (first["name"], second["name"])
            found.append(Cable((first["from"], first["to"]), names, (interface(first, "from"), interface(first, "to"))))
        return found

    def between(self, node: str, other: str) -> list[Cable]:
        """All cables between two nodes.

        Raises:
            InputError: there is none.
        """
        for name in (node, other):
            self.check_node(name)
        found = [cable for cable in self.cables if set(cable.ends) == {node, other}]
        if not found:
            near = ", ".join(cable.other(node) for cable in self.cables if node in cable.ends) or "none"
            raise InputError(f"no link between {node} and {other}", f"neighbours of {node}: {near}", "")
        return found

    def joined(self, node: str, interface: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """The stations that an interface reaches without a router: their names, interfaces, and the links to them."""
        first = next((one for one in self.cables if (node, interface) in one.places), None)
        queue: deque[tuple[str, Cable, tuple[str, ...]]] = deque()
        if first is not None:
            queue.append((node, first, ()))
        passed = {node}
        while queue:
            end, cable, links = queue.popleft()
            other, way = cable.other(end), (*links, *cable.towards(cable.other(end)))
            if self.kind(other) in ("host", "router"):
                yield other, cable.interfaces[cable.ends.index(other)], way
            elif other not in passed:
                passed.add(other)
                queue += [(other, one, way) for one in self.cables if other in one.ends and one is not cable]

    @property
    def links(self) -> list[str]:
        """The names of all links."""
        return [link["name"] for link in self._links]

    def named(self, *words: str) -> list[str]:
        """The links that one name means, or all between two nodes.

        Raises:
            InputError: there is none.
        """
        if len(words) == 2:
            return [link for cable in self.between(*words) for link in cable.links]
        if len(words) == 1 and words[0] in self.links:
            return [words[0]]
        known = ", ".join(self.links[:20])
        raise InputError(f"no link {' '.join(words)}", f"links: {known}", "name a link, or two nodes")

    def check_node(self, name: str) -> None:
        """Raise `InputError` if there is no node `name`."""
        if name not in self._nodes:
            why = f"nodes: {', '.join(self.nodes[:20])}"
            raise InputError(f"no node {name}", why, nearest(name, self.nodes))

    def check_place(self, name: str) -> None:
        """Raise `InputError` if no program can run in `name`."""
        self.check_node(name)
        if name not in self.places:
            raise InputError(f"no program runs in {name}", "it is a switch", "choose a host or a router")

    def addressed(self, words: list[str], ip: int = 4) -> list[str]:
        """Words in which the names of hosts and routers are replaced by their addresses, if they have one of this
        version of IP."""
        return [self.address(word, ip) or word if word in self.stations else word for word in words]


def _has(held: list[str], address: str) -> bool:
    return address in (one.partition("/")[0] for one in held)
