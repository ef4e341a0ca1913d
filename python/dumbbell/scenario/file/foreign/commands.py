"""Shell commands that give a node its addresses and routes: what of them a scenario can say. None is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_address, ip_interface, ip_network
from typing import Final

from dumbbell.scenario.file.foreign import shaping
from dumbbell.scenario.file.foreign.shaping import Shaping

_FORWARDING: Final = re.compile(
    r"net[./](?:ipv4[./]ip_forward|ipv6[./]conf[./](?:all|default)[./]forwarding)\s*=\s*1"
    r"|echo\s+[\"']?1[\"']?\s*>\s*/proc/sys/net/ipv(?:4/ip_forward|6/conf/(?:all|default)/forwarding)"
)


@dataclass
class Bridge:
    """A bridge of Linux within a node."""

    ports: list[str] = field(default_factory=list)
    stp: bool = False
    commands: list[str] = field(default_factory=list)


@dataclass
class Settings:
    """Settings of commands.

    Attributes:
        addresses: of each interface, with the lengths of prefixes.
        routes: as a node's `routes` has them.
        forwards: whether the node is to forward packets.
        id: an IPv4 address of its loopback interface.
        shaping: what leaves an interface, by its name.
        defaults: minor number of the class of HTB that all packets enter, by interface.
        bridges: the interfaces that each bridge joins, and whether it has a spanning tree, by its name.
        rest: the commands that a scenario has no keys for.
    """

    addresses: dict[str, list[str]] = field(default_factory=dict)
    routes: list[str] = field(default_factory=list)
    forwards: bool = False
    id: str | None = None
    shaping: dict[str, Shaping] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    bridges: dict[str, Bridge] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)


def settings(lines: Iterable[str]) -> Settings:
    """Reads the settings of a shell script's lines, a command each; `&&` and `;` join commands."""
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


def _taken(command: str, settings: Settings) -> bool:
    """Take a command that a scenario can say. False: it cannot."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return False
    for shell in (["sh", "-c"], ["bash", "-c"]):
        if words[:2] == shell and len(words) == 3:
            return _taken(words[2], settings)
    if words and words[0].rpartition("/")[2] in ("ip", "ifconfig", "route", "tc", "brctl"):
        words[0] = words[0].rpartition("/")[2]
    try:
        match words:
            case ["tc", *rest]:
                return shaping.taken(rest, settings.shaping, settings.defaults)
            case ["ip" | "brctl", *_] if _bridge(words, settings):
                return True
            case ["ip", *rest]:
                return _ip([word for word in rest if word not in ("-4", "-6")], settings)
            case ["ifconfig", interface, *rest]:
                return _ifconfig(interface, rest, settings)
            case ["route", "add", *rest]:
                return _route(rest, settings)
    except ValueError:  # No address.
        return False
    return False


def _bridge(words: list[str], settings: Settings) -> bool:
    """Take a command that makes a bridge, or joins an interface to it."""
    match [word for word in words if word not in ("name", "dev")]:
        case ["ip", "l" | "link", "add", bridge, "type", "bridge", *options]:
            known = settings.bridges.setdefault(bridge, Bridge())
            if options and options != ["stp_state", "1"]:
                return False
            known.stp |= bool(options)
        case ["brctl", "addbr", bridge]:
            settings.bridges.setdefault(bridge, Bridge())
        case ["brctl", "stp", bridge, "on" | "yes" | "1"] if bridge in settings.bridges:
            settings.bridges[bridge].stp = True
        case (
            ["ip", "l" | "link", "set", interface, "master", bridge]
            | ["ip", "l" | "link", "set", interface, "up", "master", bridge]
            | ["ip", "l" | "link", "set", interface, "master", bridge, "up"]
            | ["brctl", "addif", bridge, interface]
        ) if bridge in settings.bridges:
            settings.bridges[bridge].ports.append(interface)
        case ["ip", "l" | "link", "set", "up", bridge] | ["ip", "l" | "link", "set", bridge, "up"] if (
            bridge in settings.bridges
        ):
            pass
        case _:
            return False
    settings.bridges[bridge].commands.append(" ".join(words))
    return True


def _ip(words: list[str], settings: Settings) -> bool:
    match words:
        case ["a" | "addr" | "address", "add" | "replace", address, "dev", interface, *_]:
            add_address(settings, interface, address)
        case ["a" | "addr" | "address", "add" | "replace", address, "broadcast" | "brd", _, "dev", interface]:
            add_address(settings, interface, address)
        case ["l" | "link", "set", "dev", _, "up"] | ["l" | "link", "set", _, "up"] | ["l" | "link", "set", "up", *_]:
            pass  # All interfaces are up.
        case ["r" | "ro" | "route", "add" | "replace", to, "via", hop] | [
            "r" | "ro" | "route", "add" | "replace", to, "via", hop, "dev", _
        ]:  # fmt: skip
            _via(settings, to, hop)
        case _:
            return False
    return True


def _ifconfig(interface: str, words: list[str], settings: Settings) -> bool:
    if words and words[-1] == "up":
        words = words[:-1]
    if len(words) >= 2 and words[-2] == "broadcast":
        words = words[:-2]
    match words:
        case []:
            return True
        case [address, "netmask", mask]:
            add_address(settings, interface, f"{address}/{IPv4Network(f'0.0.0.0/{mask}').prefixlen}")
        case ["inet6", "add", address] | ["add", address] | [address] if "/" in address:
            add_address(settings, interface, address)
        case _:
            return False
    return True


def _route(words: list[str], settings: Settings) -> bool:
    if len(words) >= 2 and words[-2] == "dev":
        words = words[:-2]
    match words:
        case ["default", "gw", hop]:
            _via(settings, "default", hop)
        case ["-net", to, "gw", hop]:
            _via(settings, "default" if to == "default" else to, hop)
        case ["-net", to, "netmask", mask, "gw", hop]:
            _via(settings, str(ip_network(f"{to}/{mask}")), hop)
        case ["-host", to, "gw", hop]:
            _via(settings, f"{ip_address(to)}/32", hop)
        case _:
            return False
    return True


def add_address(settings: Settings, interface: str, address: str) -> None:
    """Adds an address with its prefix to an interface. Raises `ValueError` if a link cannot have it."""
    whole = ip_interface(address)
    if interface == "lo" and settings.id is None and whole.version == 4 and not whole.ip.is_loopback:
        settings.id = str(whole.ip)
        return
    if "%" in address or whole.ip.is_loopback or whole.ip.is_link_local or interface == "lo":
        raise ValueError("not an address of a link")
    if "/" not in address:
        raise ValueError("no subnet")
    settings.addresses.setdefault(interface, []).append(str(whole))


def _via(settings: Settings, to: str, hop: str) -> None:
    if "%" in to or "%" in hop:
        raise ValueError("not an address of a link")
    prefix = "default" if to in ("default", "0.0.0.0/0", "::/0") else str(ip_network(to))
    settings.routes.append(f"{prefix} via {ip_address(hop)}")
