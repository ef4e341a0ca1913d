"""The way of packets through a lab, as each node's kernel would send them on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dumbbell.labs.live import Live
from dumbbell.labs.network import Network

_KERNELS: Final = re.compile(r"(0|32766|32767):")
"""The rules that every node has: its own addresses, the main table, the default table (ip-rule(8))."""


@dataclass(frozen=True)
class Step:
    """A node on the way."""

    node: str
    came_in: str | None
    """The interface at which packets come; `None` of the sender."""
    leaves: str | None
    """The interface at which it sends them on; `None`: it does not, or they are there."""
    refusal: str = ""
    """Error of its kernel if that has no route for them."""


@dataclass(frozen=True)
class Way:
    """The way from one node towards another, as far as route tables say it."""

    steps: tuple[Step, ...]
    circle: tuple[str, ...] = ()
    """Nodes between which packets run in a circle: the first one is the last, too."""

    @property
    def last(self) -> Step:
        """The node at which it ends."""
        return self.steps[-1]


def way(lab: Live, from_: str, to: str, ip: int = 4) -> Way:
    """Ask each node on the way where it would send packets, its policies included.

    It ends early where the next node is not known: behind the gateway of a core network.
    """
    network, source, target = lab.network, lab.network.address(from_, ip), lab.network.address(to, ip)
    steps: list[Step] = []
    node, came_in = from_, None
    while node != to:
        iif: list[str] = [] if came_in is None else ["iif", came_in]
        done = lab[node].run(["ip", f"-{ip}", "route", "get", target, "from", source, *iif])
        words = done.stdout.split()
        if done.returncode or "dev" not in words:
            steps.append(Step(node, came_in, None, done.stderr.strip() or done.stdout.strip()))
            return Way(tuple(steps))
        leaves = words[words.index("dev") + 1]
        steps.append(Step(node, came_in, leaves))
        hop = _next(network, node, leaves, _gateway(words) or target)
        if hop is None:
            return Way(tuple(steps))
        node, came_in = hop
        passed = [step.node for step in steps]
        if node in passed:
            return Way(tuple(steps), (*passed[passed.index(node) :], node))
    return Way((*steps, Step(to, came_in, None)))


def policies(lab: Live, node: str, ip: int = 4) -> list[str]:
    """The rules of a node by which it chooses another route, or none, for some packets."""
    lines = lab[node].run(["ip", f"-{ip}", "rule"]).stdout.splitlines()
    return [line.partition(":")[2].strip() for line in lines if not _KERNELS.match(line)]


def has_route(lab: Live, node: str, to: str, ip: int = 4) -> bool:
    """True if the node itself could send to `to`, whatever it does with packets of others."""
    return lab[node].run(["ip", f"-{ip}", "route", "get", lab.network.address(to, ip)]).returncode == 0


def mtu(lab: Live, node: str, interface: str) -> int | None:
    """The most bytes of a packet of IP at an interface."""
    found = re.search(r"\bmtu (\d+)", lab[node].run(["ip", "-o", "link", "show", "dev", interface]).stdout)
    return int(found[1]) if found else None


def known_mtu(lab: Live, from_: str, to: str, ip: int = 4) -> int | None:
    """The path's MTU as the sender has learned it by ICMP (RFC 1191, RFC 8201)."""
    target = lab.network.address(to, ip)
    found = re.search(r"\bmtu (?:lock )?(\d+)", lab[from_].run(["ip", f"-{ip}", "route", "get", target]).stdout)
    return int(found[1]) if found else None


def _gateway(words: list[str]) -> str | None:
    """The next hop's address: behind `via`, or `via inet6` where it is of the other version."""
    if "via" not in words:
        return None
    at = words.index("via") + 1
    return words[at + 1] if words[at] in ("inet", "inet6") else words[at]


def _next(network: Network, node: str, leaves: str, hop: str) -> tuple[str, str] | None:
    """The node with this address, and its interface there; else the node at the other end of the cable, unless that is
    a switch: an address of the link alone (`fe80::`) says no more."""
    for name in network.places:
        for interface, held in network.interfaces(name):
            if name != node and hop in (address.partition("/")[0] for address in held):
                return name, interface
    for cable in network.cables:
        for end, other in (0, 1), (1, 0):
            if (cable.ends[end], cable.interfaces[end]) == (node, leaves) and network.kind(
                cable.ends[other]
            ) != "switch":
                return cable.ends[other], cable.interfaces[other]
    return None
