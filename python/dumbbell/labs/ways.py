"""The way of packets through a lab, as each node's kernel would send them on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.labs.live import Live

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
    nobody: str = ""
    """The next hop's address if no node at this interface has it."""
    is_local: bool = False
    """True if the address is one of its own, though it is not the node that packets are for: it takes them."""


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
    steps: list[Step] = []
    node, came_in = from_, None
    source = lab.network.address(from_, ip)
    while node != to:
        step, following = hop(lab, node, to, ip, ["from", source, *(["iif", came_in] if came_in else [])], came_in)
        steps.append(step)
        if following is None:
            return Way(tuple(steps))
        node, came_in = following
        passed = [step.node for step in steps]
        if node in passed:
            return Way(tuple(steps), (*passed[passed.index(node) :], node))
    return Way((*steps, Step(to, came_in, None)))


def hop(
    lab: Live, node: str, to: str, ip: int = 4, more: Sequence[str] = (), came_in: str | None = None
) -> tuple[Step, tuple[str, str] | None]:
    """Ask a node where it would send packets for `to`.

    Args:
        lab: the lab.
        node: the node, which is not `to`.
        to: the node that they are for.
        ip: the version of IP.
        more: what else `ip route get` is told of them; by default they are the node's own.
        came_in: the interface at which they come.

    Returns:
        The step; and the next node with its interface, `None` if there is none or it is not known.
    """
    target = lab.network.address(to, ip)
    done = lab[node].run(["ip", f"-{ip}", "route", "get", target, *more])
    words = done.stdout.split()
    if done.returncode or "dev" not in words:
        return Step(node, came_in, None, done.stderr.strip() or done.stdout.strip()), None
    if words[0] == "local":
        return Step(node, came_in, None, is_local=True), None
    leaves = words[words.index("dev") + 1]
    address = _gateway(words) or target
    following = _next(lab, node, leaves, address)
    is_missing = following is None and bool(lab.network.planned[node].get("interfaces"))
    return Step(node, came_in, leaves, nobody=address if is_missing else ""), following


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


def _next(lab: Live, node: str, leaves: str, address: str) -> tuple[str, str] | None:
    """The node at this interface that has an address, by the plan or now, and its own interface.

    An address of the link alone (`fe80::`) is that of the only other node, if there is one.
    """
    joined = [(name, interface) for name, interface, _ in lab.network.joined(node, leaves)]
    if address.startswith("fe80:"):
        return joined[0] if len(joined) == 1 else None
    for name, interface in joined:
        if address in _alone(dict(lab.network.interfaces(name)).get(interface, ())):
            return name, interface
    for name, interface in joined:
        if address in _HELD.findall(lab[name].run(["ip", "-o", "addr", "show", "dev", interface]).stdout):
            return name, interface
    return None


_HELD: Final = re.compile(r"\binet6? ([0-9a-f.:]+)")


def _alone(addresses: Iterable[str]) -> list[str]:
    return [address.partition("/")[0] for address in addresses]
