"""The nodes of a drawn network: hosts, switches and routers."""

from __future__ import annotations

import posixpath
import re
from fractions import Fraction
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from dumbbell.scenario.table import OPENS, STARTED, Table, tag_by
from dumbbell.scenario.topology.hosts import Sysctls
from dumbbell.scenario.traces import File
from dumbbell.units import Percent, QuantityError

LONGEST_NAME: Final = 15
"""The most characters of a node's name: interfaces have names of nodes, and Linux gives them no more."""

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

AnyInterface = IPv4Interface | IPv6Interface

_EXAMPLE: Final = 'write "10.2.0.10/24"'


def interface(value: object) -> AnyInterface:
    """An address with the length of its subnet's prefix. Raises `QuantityError`."""
    if isinstance(value, IPv4Interface | IPv6Interface):
        return value
    expected = "an address and the length of its subnet's prefix"
    if not isinstance(value, str) or "/" not in value:
        raise QuantityError("not an address with a subnet", expected, _EXAMPLE)
    try:
        found = ip_interface(value)
    except ValueError as error:
        raise QuantityError(str(error), expected, _EXAMPLE) from None
    if found.ip.is_multicast or found.ip.is_unspecified or found.ip.is_loopback:
        raise QuantityError("no host can have this address", "an address of one host", _EXAMPLE)
    whole = found.network.num_addresses
    if isinstance(found, IPv4Interface) and whole > 2:
        if found.ip == found.network.network_address:
            raise QuantityError("this is the address of the subnet", f"an address in {found.network}", _EXAMPLE)
        if found.ip == found.network.broadcast_address:
            raise QuantityError("this is the broadcast address", f"an address in {found.network}", _EXAMPLE)
    return found


Interface = Annotated[
    AnyInterface,
    BeforeValidator(interface, json_schema_input_type=str),
    PlainSerializer(str, when_used="json", return_type=str),
]

Addresses = Annotated[
    list[Interface],
    BeforeValidator(lambda v: v if isinstance(v, list) else [v], json_schema_input_type=str | list[str]),
]
"""One address, or an IPv4 and an IPv6 one."""


class GivenRoute(Table):
    """A route that the scenario gives a node: `10.5.0.0/16 via 10.2.0.1`."""

    to: str
    """The destination's prefix."""
    via: tuple[str, ...]
    """Its next hops; several share the traffic."""

    def __str__(self) -> str:
        """The route as it is written."""
        return f"{self.to} via {', '.join(self.via)}"


_ROUTE: Final = 'write "default via 10.2.0.1" or "10.5.0.0/16 via 10.2.0.1"'


def _route(value: object) -> object:
    if isinstance(value, GivenRoute):
        return value
    match = re.fullmatch(r"(\S++)\s++via\s++(.+)", value.strip()) if isinstance(value, str) else None
    if match is None:
        raise QuantityError("not a route", "a destination, the word via, and a next hop", _ROUTE)
    try:
        hops: list[IPv4Address | IPv6Address] = [ip_address(hop.strip()) for hop in re.split(r",|\svia\s", match[2])]
        everywhere = "0.0.0.0/0" if hops[0].version == 4 else "::/0"
        to = ip_network(everywhere if match[1] == "default" else match[1])
    except ValueError as error:
        raise QuantityError(str(error), "a destination, the word via, and a next hop", _ROUTE) from None
    if any(hop.version != to.version for hop in hops):
        raise QuantityError("a next hop of the other IP version", f"a hop of IPv{to.version}", _ROUTE)
    return GivenRoute(to=str(to), via=tuple(map(str, hops)))


Route = Annotated[
    GivenRoute,
    BeforeValidator(_route, json_schema_input_type=str),
    PlainSerializer(str, when_used="json", return_type=str),
]


def _id(value: object) -> object:
    try:
        return value if isinstance(value, IPv4Address) else IPv4Address(str(value))
    except ValueError:
        raise QuantityError("no router id", "an IPv4 address", 'write id = "10.255.0.1"') from None


RouterId = Annotated[
    IPv4Address,
    BeforeValidator(_id, json_schema_input_type=str),
    PlainSerializer(str, when_used="json", return_type=str),
]


def _prefix(value: object) -> object:
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    try:
        return ip_network(str(value))
    except ValueError as error:
        raise QuantityError(str(error), "a network's prefix", 'write "192.0.2.0/24"') from None


Prefix = Annotated[
    IPv4Network | IPv6Network,
    BeforeValidator(_prefix, json_schema_input_type=str),
    PlainSerializer(str, when_used="json", return_type=str),
]

Protocols = Annotated[
    list[str],
    BeforeValidator(lambda v: [] if v == "static" else v, json_schema_input_type=list[str] | Literal["static"]),
]
"""Names of protocols; `static` says that there is none."""

Timers = Literal["fast", "standard"]


KEPT: Final = ("/", "/dev", "/proc", "/sys")
"""Directories that programs cannot do without."""


def _private(value: object) -> object:
    if isinstance(value, str):
        path = posixpath.normpath(re.sub("^/+", "/", value))  # Two slashes at the start would stay.
        if not value.startswith("/") or path in KEPT or path.startswith(("/proc/", "/sys/")):
            what = "not a directory of a node's own" if value.startswith("/") else "not an absolute path"
            raise QuantityError(what, "the path of a directory, beside /dev, /proc and /sys", 'write "/var/log"')
        return path
    return value


Directory = Annotated[str, BeforeValidator(_private, json_schema_input_type=str)]

Cpu = Annotated[int, Field(ge=0, le=1023, strict=True)]
"""The number of a CPU."""

_LEAST_SHARE: Final = Percent(Fraction(1))
"""The kernel gives no less."""


def _share(value: object) -> Percent:
    found = Percent.parse(value)
    if found.percent < _LEAST_SHARE.percent:
        raise QuantityError("less than the kernel gives", f"at least {_LEAST_SHARE}", 'write "20 %"')
    return found


Share = Annotated[
    Percent,
    BeforeValidator(_share, json_schema_input_type=str),
    PlainSerializer(str, when_used="json", return_type=str),
]
"""A share of a CPU."""


class Ends(Table):
    """Keys of nodes that have addresses."""

    routes: list[Route] | None = Field(
        default=None,
        description='Routes, such as "default via 10.2.0.1". Several next hops with commas between them share the '
        "traffic. Default: shortest paths by the links' costs.",
        examples=[["default via 10.2.0.1"]],
    )
    private: list[Directory] = Field(
        default=[],
        description="Directories of the machine that the node has for itself: empty at the start, gone at the end.",
        examples=[["/var/log"]],
    )
    cpus: list[Cpu] = Field(
        default=[],
        description="Numbers of the CPUs on which programs in the node run, from 0. Default: all.",
        examples=[[0]],
    )
    cpu: Share | None = Field(
        default=None,
        description="Share of one CPU for all programs in the node, from 1 %, by a control group; refused where the "
        "machine does not allow it. Default: no limit.",
        examples=["20 %"],
    )


class Host(Ends):
    """A host: flows begin and end there."""

    kind: Literal["host"] = Field(default="host", description="A host, where flows begin and end.")
    address: Addresses | None = Field(
        default=None,
        description="Address of its first interface. Default: a free address of the link's subnet.",
        examples=["10.2.0.10/24"],
    )


class Switch(Table):
    """A switch: it learns where MAC addresses are, and floods what it does not know."""

    kind: Literal["switch"] = Field(description="A switch, which learns MAC addresses.")
    bridge: bool = Field(
        default=False,
        strict=True,
        description="true: a bridge of Linux in a network namespace, with VLANs and programs. false: part of the "
        "link emulator.",
    )
    stp: bool = Field(
        default=False,
        strict=True,
        description="true: the bridge takes part in a spanning tree (IEEE 802.1D), so switches may form loops. Time "
        "0 waits for it.",
    )
    priority: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        strict=True,
        description="The bridge with the least priority becomes the root of the spanning tree, or the first of equal "
        "ones. Default: 32768.",
        examples=[4096],
    )
    timers: Timers | None = Field(
        default=None,
        description="Timers of routing protocols and spanning tree: `fast` or `standard`, those of FRRouting and "
        "IEEE 802.1D. Default: the network's.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stp and not self.bridge:
            raise QuantityError("stp without bridge", "a bridge of Linux", "write bridge = true, stp = true")
        for key in ("priority", "timers"):
            if key in self.model_fields_set and not self.stp:
                raise QuantityError(f"{key} without stp", "a bridge with a spanning tree", "write stp = true, too")
        return self


class Router(Ends):
    """A router: it forwards IP packets between its interfaces' subnets."""

    kind: Literal["router"] = Field(description="A router, which forwards IP packets between subnets.")
    sysctl: Sysctls = Field(default={})
    id: RouterId | None = Field(
        default=None,
        description="Router id, an IPv4 address that its loopback interface has. Default: one of the pool `loopback`.",
        examples=["10.255.0.1"],
    )
    routing: Protocols = Field(
        default=[],
        description="Routing protocols, each by its daemon of FRRouting: `bgp`, `ospf`, `ospf6`, `isis`, `rip`, "
        "`ripng`; `bfd` watches neighbours. Others, such as `eigrp`, `pim`, `ldp`, `vrrp`, `pbr`, need "
        "`frr`. `static`: shortest paths. Default: the network's.",
        examples=[["ospf", "bfd"]],
    )
    asn: int | None = Field(
        default=None, ge=1, le=4294967295, strict=True, description="Number of its autonomous system.", examples=[64512]
    )
    networks: list[Prefix] | None = Field(
        default=None,
        description="Prefixes that it announces by BGP. Default: its subnets on which there are hosts.",
        examples=[["192.0.2.0/24"]],
    )
    customers: list[str] = Field(
        default=[],
        description="Neighbours in other ASes that pay for transit: their routes come first, and every neighbour "
        "hears them.",
    )
    peers: list[str] = Field(
        default=[],
        description="Neighbours in other ASes that get its own and its customers' routes, and give it theirs.",
    )
    providers: list[str] = Field(
        default=[],
        description="Neighbours in other ASes that it pays: their routes come last, and only customers hear them.",
    )
    clients: list[str] = Field(
        default=[],
        description="Routers of its AS to which it reflects routes (RFC 4456). Default: all have sessions to all.",
    )
    timers: Timers = Field(
        default="fast",
        description="Timers of routing protocols and spanning tree: `fast` or `standard`, those of FRRouting and "
        "IEEE 802.1D. Default: the network's.",
    )
    frr: Annotated[File | None, STARTED] = Field(
        default=None, description="File with the whole `frr.conf`, in place of what follows from the other keys."
    )
    bare: bool = Field(
        default=False,
        strict=True,
        description="true: the daemons of `routing` start without a configuration, which you type with `vtysh`.",
    )
    nat: Annotated[bool, OPENS] = Field(
        default=False,
        strict=True,
        description="true: the router leads to this machine's network, with address translation, for IPv4. Only "
        "labs have this, and ask before.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.nat and any(route.to == "0.0.0.0/0" for route in self.routes or []):
            raise QuantityError("nat with a default route", "one way to all that is elsewhere", "leave one of them out")
        if self.bare and self.frr is not None:
            raise QuantityError("bare and frr", "one of the two", "leave bare out to start with the file")
        if self.bare and not self.routing:
            raise QuantityError("bare without routing", "the daemons to start", 'write routing = ["bgp"]')
        return self


NODES: Final[dict[str, type[Table]]] = {"host": Host, "switch": Switch, "router": Router}
"""Kinds of nodes by name: a line for each."""

node_tag: Any = tag_by("kind", NODES, "host")
