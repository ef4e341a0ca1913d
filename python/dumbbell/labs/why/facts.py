"""The state of a node as its kernel has it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_interface
from typing import Any, Final

from dumbbell.frozen import dataclass
from dumbbell.labs.live import Live

_READ: Final = """
ip -j addr show || echo '[]'; echo
ip -j neigh show nud permanent || echo '[]'; echo
ip -j route show || echo '[]'; echo
ip -6 -j route show || echo '[]'; echo
cd /proc/sys/net && grep -H '' ipv4/ip_forward ipv4/icmp_echo_ignore_all ipv4/ip_default_ttl ipv4/conf/*/rp_filter \
  ipv4/conf/*/arp_ignore ipv4/conf/*/forwarding ipv6/icmp/echo_ignore_all ipv6/conf/*/disable_ipv6 \
  ipv6/conf/*/forwarding ipv6/conf/*/hop_limit 2>/dev/null
"""


@dataclass(frozen=True)
class Interface:
    """An interface of a node."""

    name: str
    is_up: bool
    """The administrator's state; a pulled cable does not change it."""
    answers_arp: bool
    mac: str
    mtu: int
    addresses: tuple[str, ...]
    """With their prefixes; none that only the link or the node itself knows."""
    doubtful: tuple[str, ...] = ()
    """Addresses that another node had first, which the kernel does not use (`dadfailed`)."""


@dataclass(frozen=True)
class Route:
    """A route of the main table."""

    to: str
    """The prefix; `0.0.0.0/0` and `::/0` are the default routes."""
    via: tuple[str, ...]
    by: str = field(default="", compare=False)
    """The origin of the route (`proto` of ip-route(8)): `boot` by hand, `static`, `bgp`, ..."""


@dataclass(frozen=True)
class Facts:
    """The state of a node."""

    interfaces: Mapping[str, Interface]
    neighbours: Mapping[str, tuple[str, str]]
    """Permanent entries: address -> MAC address and interface."""
    routes: tuple[Route, ...]
    sysctls: Mapping[str, int]
    """Values of settings of the kernel, of all interfaces, by names with dots."""

    def sysctl(self, name: str, default: int = 0) -> int:
        """The value of a setting, or `default` if this kernel has none."""
        return self.sysctls.get(name, default)


def read(lab: Live, node: str) -> Facts:
    """Read the state of a node. Raises `RunFailed` if the lab has ended."""
    lines = [line for line in lab[node].run(["sh", "-c", _READ]).stdout.splitlines() if line.strip()]
    addresses, neighbours, *routes = [json.loads(line) for line in lines if line.startswith("[")]
    return Facts(
        {one.name: one for one in map(_interface, addresses)},
        {one["dst"]: (one["lladdr"], one["dev"]) for one in neighbours if "lladdr" in one},
        tuple(_route(one) for table in routes for one in table if one.get("type", "unicast") == "unicast"),
        {"net." + found[1].replace("/", "."): int(found[2]) for line in lines if (found := _SYSCTL.fullmatch(line))},
    )


_SYSCTL: Final = re.compile(r"(ipv[46]/[\w/.-]+):(-?\d+)")


def _interface(entry: Mapping[str, Any]) -> Interface:
    known = [one for one in entry.get("addr_info", ()) if one["scope"] not in ("link", "host")]
    return Interface(
        entry["ifname"],
        "UP" in entry["flags"],
        "NOARP" not in entry["flags"],
        entry.get("address", ""),
        entry["mtu"],
        tuple(map(_written, (one for one in known if not one.get("dadfailed")))),
        tuple(map(_written, (one for one in known if one.get("dadfailed")))),
    )


def _written(address: Mapping[str, Any]) -> str:
    return f"{address['local']}/{address['prefixlen']}"


def _route(entry: Mapping[str, Any]) -> Route:
    hops = entry.get("nexthops") or [entry]
    to = entry["dst"]
    if to == "default":
        to = "::/0" if any(":" in _gateway(hop) for hop in hops) else "0.0.0.0/0"
    return Route(str(ip_interface(to).network), tuple(filter(None, map(_gateway, hops))), entry.get("protocol", "boot"))


def _gateway(hop: Mapping[str, Any]) -> str:
    return str(hop.get("gateway") or hop.get("via", {}).get("host", ""))
