"""Drawing of a network: the graph that the keys of any topology make, and all that plans and pages know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer

from dumbbell.frozen import dataclass
from dumbbell.scenario.links.link import DirectionKeys
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.table import Table
from dumbbell.scenario.topology.cables import Cable, CableReverse
from dumbbell.scenario.topology.keys import LEAST, MOST, Bytes
from dumbbell.scenario.topology.nodes import AnyInterface, Host, Prefix, Protocols, Router, Switch, Timers
from dumbbell.units import QuantityError, Time
from dumbbell.units.mtu import MTU

Node = Host | Switch | Router


class Joint(NamedTuple):
    """A cable without what it does to packets: the keys of `Cable` that say what it joins, and how."""

    name: str | None
    between: tuple[str, str]
    addresses: tuple[tuple[AnyInterface, ...], ...] | None
    cost: int
    vlan: int | None
    vlans: tuple[int, ...] | None
    mtu: int | None


@dataclass(frozen=True)
class Structure:
    """A drawing without what its cables do to packets: two networks that differ in rates and delays alone have equal
    structures, and so the same addresses."""

    names: tuple[str, ...]
    """Names of the nodes, in order: mappings with the same items are equal in any."""
    nodes: Mapping[str, Node]
    cables: tuple[Joint, ...]
    keys: tuple[Key, ...]
    numbering: tuple[int, ...]
    addresses: Mapping[str, str]

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts, in the order of the nodes."""
        return _hosts(self.nodes)


def _hosts(nodes: Mapping[str, Node]) -> tuple[str, ...]:
    return tuple(name for name, node in nodes.items() if isinstance(node, Host))


def _joint(cable: Cable) -> Joint:
    a, b = cable.between
    addresses = None if cable.addresses is None else tuple(map(tuple, cable.addresses))
    vlans = None if cable.vlans is None else tuple(cable.vlans)
    return Joint(cable.name, (a, b), addresses, cable.cost, cable.vlan, vlans, cable.mtu)


def _prefix(version: int) -> Any:
    example = "10.1.0.0/16" if version == 4 else "fd00::/48"

    def check(value: object) -> object:
        if isinstance(value, IPv4Network | IPv6Network):
            return value
        try:
            found = ip_network(value) if isinstance(value, str) and "/" in value else None
        except ValueError as error:
            raise QuantityError(str(error), f"a prefix of IPv{version}", f'write "{example}"') from None
        if found is None or found.version != version:
            raise QuantityError("not a pool", f"a prefix of IPv{version}", f'write "{example}"')
        return found

    return BeforeValidator(check, json_schema_input_type=str)


_text = PlainSerializer(str, when_used="json", return_type=str)
Pool4 = Annotated[IPv4Network, _prefix(4), _text]
Pool6 = Annotated[IPv6Network, _prefix(6), _text]


class Pools(Table):
    """The prefixes from which addresses come that the scenario does not give."""

    lan: Pool4 = Field(
        default=IPv4Network("10.1.0.0/16"),
        description="Subnets of switches with all that they join: a /24 each, or larger where there are more nodes.",
    )
    link: Pool4 = Field(
        default=IPv4Network("10.0.0.0/16"), description="Subnets of links without a switch: a /30 each."
    )
    loopback: Pool4 = Field(default=IPv4Network("10.255.0.0/16"), description="Router ids.")
    ipv6: Pool6 = Field(default=IPv6Network("fd00::/48"), description="IPv6 subnets: a /64 each.")


_WAIT: Final = Time(60 * 10**9)

Spread = Literal["nothing", "destinations", "flows"]

SPREAD: Final = (
    "How traffic shares paths of equal cost (ECMP). `nothing`: packets take the links that come first. `destinations`: "
    "one path per subnet. `flows`: one per flow and router. Default: `nothing`; in a fat tree `destinations`."
)


@dataclass(frozen=True)
class Drawing:
    """Nodes and cables, with the settings of the network.

    Attributes:
        nodes: by name, in order.
        cables: in order.
        keys: for each cable, the place of its keys in the scenario.
        notes: what a file that was read does not say, and what was taken in its place.
        numbering: the indices of the cables, or of some that come first, in the order in which subnets are assigned;
            the others follow. What lies in one direction from most routers has one prefix, if it has neighbouring
            subnets.
        wrong: keys that do not go together.
        addresses: of the hosts, where nodes have no interfaces and the core forwards packets by these addresses; empty
            where interfaces have addresses.
        rtt: the base RTT by which BDPs are reckoned and hosts prepared, over the first cable; `None`: those of the
            ways of flows.
        pools, ipv6, neighbours, routing, wait, spread, anycast: the topology's keys.
        spots: latitude and longitude in degrees of the nodes that a file places on the earth.
    """

    nodes: Mapping[str, Node]
    cables: Sequence[Cable]
    keys: Sequence[Key]
    notes: Sequence[str] = field(default=())
    numbering: Sequence[int] = field(default=())
    wrong: Sequence[Finding] = field(default=())
    addresses: Mapping[str, str] = field(default_factory=dict)
    rtt: Time | None = None
    pools: Pools = field(default_factory=Pools)
    ipv6: bool = False
    neighbours: Literal["filled", "real"] = "filled"
    routing: Protocols = field(default_factory=list)
    wait: Time = _WAIT
    spread: Spread = "nothing"
    anycast: Sequence[Prefix] = field(default=())
    spots: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def structure(self) -> Structure:
        """Structure of the network, without rates and delays."""
        joints = tuple(map(_joint, self.cables))
        names, numbering = tuple(self.nodes), tuple(self.numbering)
        return Structure(names, self.nodes, joints, tuple(self.keys), numbering, self.addresses)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts, in the order of the nodes."""
        return _hosts(self.nodes)


MOST_HOSTS: Final = 2000
"""Hosts of a network that a few numbers make."""


def check_hosts(what: str, hosts: int, hint: str) -> None:
    """Raise `QuantityError` if the numbers `what` make too many hosts."""
    if hosts > MOST_HOSTS:
        raise QuantityError(f"{what}: {hosts} hosts", f"at most {MOST_HOSTS} hosts", hint)


class AnyTopology(Table):
    """Keys that all topologies have."""

    kind: str

    mtu: Bytes = Field(
        default=MTU,
        ge=LEAST,
        le=MOST,
        strict=True,
        description="The most bytes of an IP packet, on all links and hosts; 9000 for jumbo frames.",
        examples=[9000],
    )

    @cached_property
    def drawing(self) -> Drawing:
        """The network's nodes and links."""
        return self.draw()

    def draw(self) -> Drawing:
        """Draw the network. Each kind does it in its own way."""
        raise NotImplementedError

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts, in the order of the nodes."""
        return self.drawing.hosts


class Drawn(AnyTopology):
    """Keys of networks whose nodes have interfaces."""

    pools: Pools = Field(default=Pools(), description="Prefixes from which addresses are assigned.")
    ipv6: bool = Field(
        default=False,
        strict=True,
        description="true: every subnet has IPv6 addresses, too, for flows with `ip = 6`.",
    )
    neighbours: Literal["filled", "real"] = Field(
        default="filled",
        description="`filled`: every node knows its neighbours' MAC addresses. `real`: it asks by ARP and neighbour "
        "discovery.",
    )
    routing: Protocols = Field(
        default=[],
        description="Routing protocols of all routers that name none. Default: the routes of the shortest paths, "
        "without daemons.",
        examples=[["ospf", "bfd"]],
    )
    timers: Timers = Field(
        default="fast",
        description="Timers of routers and bridges that do not choose. `fast`: hellos every second; a tree within "
        "about 4 s. `standard`: those of FRRouting and IEEE 802.1D (30 s).",
    )
    wait: Time = Field(
        default=_WAIT,
        description="Longest wait for routing daemons and spanning tree before time 0. Then the run fails, and says "
        "what is missing.",
    )
    spread: Spread = Field(default="nothing", description=SPREAD)

    @cached_property
    def drawing(self) -> Drawing:
        """The network's nodes and links, with its settings."""
        drawn = self.draw()
        return replace(
            drawn,
            nodes={name: self._with_defaults(node) for name, node in drawn.nodes.items()},
            pools=self.pools,
            ipv6=self.ipv6,
            neighbours=self.neighbours,
            routing=self.routing,
            wait=self.wait,
            spread=self.spread,
        )

    def _with_defaults(self, node: Node) -> Node:
        if isinstance(node, Switch) and node.stp and node.timers is None:
            return node.model_copy(update={"timers": self.timers})
        if not isinstance(node, Router):
            return node
        own = {"routing": self.routing, "timers": self.timers}
        return node.model_copy(update={key: value for key, value in own.items() if key not in node.model_fields_set})


@cache
def _blank() -> Mapping[str, Any]:
    """The keys of a cable without any: they are copied once, as a large network has thousands of cables."""
    return {one: field.get_default(call_default_factory=True) for one, field in Cable.model_fields.items()}


class Pencil:
    """Draws a preset: nodes as they are named, cables with the keys of one of the preset's tables."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._cables: list[Cable] = []
        self._keys: list[Key] = []

    def host(self, name: str) -> str:
        """A host. Returns its name."""
        self._nodes[name] = Host()
        return name

    def switch(self, name: str, *, bridge: bool = False, stp: bool = False) -> str:
        """A switch, or a bridge of Linux. Returns its name."""
        self._nodes[name] = Switch(kind="switch", bridge=bridge, stp=stp)
        return name

    def router(self, name: str) -> str:
        """A router. Returns its name."""
        self._nodes[name] = Router(kind="router")
        return name

    def cable(
        self,
        a: str,
        b: str,
        table: DirectionKeys,
        key: str,
        name: str | None = None,
        delays: tuple[Time, Time] | None = None,
    ) -> int:
        """A cable from `a` to `b` with the keys of `table`, at `key` of the topology. Returns its index.

        `delays`: there and back, of a preset that works them out; `None`: those of `table`.
        """
        # The values are of models that are validated. What is worked out is not given.
        given = {one: getattr(table, one) for one in table.model_fields_set}
        made = {**_blank(), **given, "name": name, "between": [a, b]}
        if delays is not None:
            back = made["reverse"]
            keys = {one: getattr(back, one) for one in CableReverse.model_fields}
            reverse = CableReverse.model_construct(back.model_fields_set, **{**keys, "delay": delays[1]})
            made |= {"delay": delays[0], "reverse": reverse}
        self._cables.append(Cable.model_construct({*given, "between"}, **made))
        self._keys.append(("topology", key))
        return len(self._cables) - 1

    def done(self, numbering: Sequence[int] = ()) -> Drawing:
        """The drawing, whose subnets are assigned in this order of its cables."""
        return Drawing(self._nodes, self._cables, self._keys, numbering=numbering)
