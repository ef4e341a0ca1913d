"""Shell commands that give a node its addresses and routes: what of them a scenario can say. None is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_address, ip_interface, ip_network
from typing import Final

_FORWARDING: Final = re.compile(
    r"net[./]ipv4[./]ip_forward\s*=\s*1|echo\s+[\"']?1[\"']?\s*>\s*/proc/sys/net/ipv4/ip_forward"
)


@dataclass
class Settings:
    """What commands set.

    Attributes:
        addresses: of each interface, with the lengths of prefixes.
        routes: as a node's `routes` has them.
        forwards: whether the node is to forward packets.
        rest: the commands that a scenario has no keys for.
    """

    addresses: dict[str, list[str]] = field(default_factory=dict)
    routes: list[str] = field(default_factory=list)
    forwards: bool = False
    rest: list[str] = field(default_factory=list)


def settings(lines: Iterable[str]) -> Settings:
    """What the lines of a shell script set, a command each; `&&` and `;` join commands."""
    found = Settings()
    for line in lines:
        for command in re.split(r"&&|;", line):
            command = command.strip()
            if not command or command.startswith("#"):
                continue
            if _FORWARDING.search(command):
                found.forwards = True
            elif not _taken(command, found):
                found.rest.append(" ".join(command.split()))
    return found


def _taken(command: str, found: Settings) -> bool:
    """Take a command that a scenario can say. False: it cannot."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return False
    for shell in (["sh", "-c"], ["bash", "-c"]):
        if words[:2] == shell and len(words) == 3:
            return _taken(words[2], found)
    if words and words[0].rpartition("/")[2] in ("ip", "ifconfig", "route"):
        words[0] = words[0].rpartition("/")[2]
    try:
        match words:
            case ["ip", *rest]:
                return _ip([word for word in rest if word not in ("-4", "-6")], found)
            case ["ifconfig", interface, *rest]:
                return _ifconfig(interface, rest, found)
            case ["route", "add", *rest]:
                return _route(rest, found)
    except ValueError:  # No address.
        return False
    return False


def _ip(words: list[str], found: Settings) -> bool:
    match words:
        case ["a" | "addr" | "address", "add" | "replace", address, "dev", interface, *_]:
            _add(found, interface, address)
        case ["a" | "addr" | "address", "add" | "replace", address, "broadcast" | "brd", _, "dev", interface]:
            _add(found, interface, address)
        case ["l" | "link", "set", "dev", _, "up"] | ["l" | "link", "set", _, "up"]:
            pass  # All interfaces are up.
        case ["r" | "ro" | "route", "add" | "replace", to, "via", hop] | [
            "r" | "ro" | "route", "add" | "replace", to, "via", hop, "dev", _
        ]:  # fmt: skip
            _via(found, to, hop)
        case _:
            return False
    return True


def _ifconfig(interface: str, words: list[str], found: Settings) -> bool:
    if words and words[-1] == "up":
        words = words[:-1]
    if len(words) >= 2 and words[-2] == "broadcast":
        words = words[:-2]
    match words:
        case []:
            return True
        case [address, "netmask", mask]:
            _add(found, interface, f"{address}/{IPv4Network(f'0.0.0.0/{mask}').prefixlen}")
        case ["inet6", "add", address] | ["add", address] | [address] if "/" in address:
            _add(found, interface, address)
        case _:
            return False
    return True


def _route(words: list[str], found: Settings) -> bool:
    if len(words) >= 2 and words[-2] == "dev":
        words = words[:-2]
    match words:
        case ["default", "gw", hop]:
            _via(found, "default", hop)
        case ["-net", to, "gw", hop]:
            _via(found, "default" if to == "default" else to, hop)
        case ["-net", to, "netmask", mask, "gw", hop]:
            _via(found, str(ip_network(f"{to}/{mask}")), hop)
        case ["-host", to, "gw", hop]:
            _via(found, f"{ip_address(to)}/32", hop)
        case _:
            return False
    return True


def _add(found: Settings, interface: str, address: str) -> None:
    whole = ip_interface(address)
    if "%" in address or whole.ip.is_loopback or whole.ip.is_link_local or interface == "lo":
        raise ValueError("not an address of a link")
    if "/" not in address:
        raise ValueError("no subnet")
    found.addresses.setdefault(interface, []).append(str(whole))


def _via(found: Settings, to: str, hop: str) -> None:
    if "%" in to or "%" in hop:
        raise ValueError("not an address of a link")
    prefix = "default" if to in ("default", "0.0.0.0/0", "::/0") else str(ip_network(to))
    found.routes.append(f"{prefix} via {ip_address(hop)}")
