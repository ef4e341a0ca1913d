"""Addresses, interfaces and MAC addresses that a lab keeps when its network becomes another."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from dumbbell.errors import InputError

Kept = Sequence[tuple[int, int]]
"""The cables that stay: their places before and after."""

_MAY_DIFFER: Final = ("interfaces", "routes", "sysctl", "address", "routing")
"""Keys of a node that a lab can change while it is up; of `routing` all but the daemons."""
_NAMED: Final = re.compile(r"^(\s*(?:interface|network|passive-interface) )(eth\d+)$", re.MULTILINE)
"""Interfaces in a configuration that follows from the network."""


def pin(what: str, topology: dict[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], kept: Kept) -> bool:
    """Write the addresses of now into a topology, where a plan of it has others. Returns true if there were some.

    Args:
        what: begins the error.
        topology: with its nodes and links one by one.
        before: the plan of now.
        after: the plan of `topology`.
        kept: the cables that stay: their places before and after.

    Raises:
        InputError: a link that stays would get another name.
    """
    listed, pinned = topology["links"], False
    first = len(after["links"]) // 2 - len(listed)
    addresses_before, addresses_after = _addresses(before), _addresses(after)
    for old, new in kept:
        was, now = before["links"][2 * old], after["links"][2 * new]
        if was["name"] != now["name"]:
            hint = "give the links between the same two nodes names of their own"
            raise InputError(what, f"the link {was['name']} would be called {now['name']}", hint)
        addresses = [addresses_before.get(end, []) for end in _ends(was)]
        if addresses != [addresses_after.get(end, []) for end in _ends(now)]:
            listed[new - first]["addresses"] = addresses
            pinned = True
    ids = {node["name"]: node["address"] for node in after["nodes"] if node["kind"] == "router"}
    for node in before["nodes"]:
        if node["name"] in ids and ids[node["name"]] != node["address"]:
            topology["nodes"][node["name"]]["id"] = node["address"]
            pinned = True
    return pinned


def settled(before: Mapping[str, Any], after: dict[str, Any], kept: Kept, written: Collection[str]) -> dict[str, Any]:
    """The plan `after`, in which interfaces of cables that stay have the names and MAC addresses that they have in
    `before`. New interfaces have free ones.

    Args:
        before: the plan of now.
        after: the plan of the new network, as a new lab would have it.
        kept: the cables that stay.
        written: routers whose configuration its user has written: it stays as it is.
    """
    names: dict[tuple[str, str], str] = {}
    for old, new in kept:
        was, now = before["links"][2 * old], after["links"][2 * new]
        for end in ("from", "to"):
            if now.get(f"{end}_interface"):
                names[now[end], now[f"{end}_interface"]] = was[f"{end}_interface"]
    macs = {(node["name"], one["name"]): one["mac"] for node in before["nodes"] for one in node.get("interfaces") or ()}
    taken = {macs[node, name] for (node, _), name in names.items()}
    nodes = []
    for node in after["nodes"]:
        interfaces = node.get("interfaces") or []
        own = {name for (owner, _), name in names.items() if owner == node["name"]}
        numbers = (f"eth{number}" for number in count(1 if node["kind"] == "bridge" else 0))
        named = []
        for one in interfaces:
            at = (node["name"], one["name"])
            if at in names:
                named.append({**one, "name": names[at], "mac": macs[node["name"], names[at]]})
                continue
            name = next(name for name in numbers if name not in own)
            mac = _free(taken) if one["mac"] in taken else one["mac"]
            taken.add(mac)
            names[at] = name
            named.append({**one, "name": name, "mac": mac})
        changed: dict[str, Any] = {"interfaces": named} if interfaces else {}
        if node.get("routing") and node["name"] not in written:
            changed["routing"] = _configured(node["routing"], node["name"], names)
        nodes.append({**node, **changed})
    links = [_renamed(link, names) for link in after["links"]]
    emulate = {**after["emulate"], "path": before["emulate"].get("path", "wire")}
    return {**after, "nodes": nodes, "links": links, "emulate": emulate}


def check(what: str, before: Mapping[str, Any], after: Mapping[str, Any], gone: Sequence[str]) -> None:
    """Raise `InputError` if a lab cannot become the network of `after`."""
    known = {node["name"]: node for node in before["nodes"]}
    for node in after["nodes"]:
        was = known.get(node["name"])
        if was is None:
            continue
        daemons = [(one.get("routing") or {}).get("daemons") for one in (was, node)]
        if daemons[0] != daemons[1]:
            raise InputError(what, f"the daemons of {node['name']} would be others", "they start with their router")
        for key in sorted({*was, *node}):
            if key not in _MAY_DIFFER and was.get(key) != node.get(key):
                why = f"{key} of {node['name']} would be another"
                raise InputError(what, why, "")


def _addresses(plan: Mapping[str, Any]) -> dict[tuple[str, str], list[str]]:
    """Returns the addresses of each interface, by node and name."""
    return {
        (node["name"], one["name"]): list(one["addresses"])
        for node in plan["nodes"]
        for one in node.get("interfaces") or ()
    }


def _ends(link: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the node and the interface at both ends of a link; a port of a switch has no interface."""
    return [(link[end], link.get(f"{end}_interface", "")) for end in ("from", "to")]


def _configured(routing: Mapping[str, Any], node: str, names: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    def renamed(line: re.Match[str]) -> str:
        return line[1] + names.get((node, line[2]), line[2])

    return {**routing, "config": _NAMED.sub(renamed, routing["config"])}


def _renamed(link: Mapping[str, Any], names: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    ends = {
        f"{end}_interface": names[link[end], link[f"{end}_interface"]]
        for end in ("from", "to")
        if link.get(f"{end}_interface")
    }
    return {**link, **ends}


def _free(taken: set[str]) -> str:
    """A MAC address that nobody has: locally administered, and beyond those of planned nodes."""
    return next(mac for mac in _macs() if mac not in taken)


def _macs() -> Iterator[str]:
    for number in count():
        yield f"02:dc:{number >> 24 & 255:02x}:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
