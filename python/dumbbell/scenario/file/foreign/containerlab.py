"""Files of containerlab (`topology.clab.yml`) as scenarios.

A scenario has no containers: nodes become hosts, routers and switches, and what runs in their images is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign import network
from dumbbell.scenario.file.foreign.commands import settings
from dumbbell.scenario.file.foreign.network import End, Node
from dumbbell.scenario.file.foreign.notes import Notes, checked

HOSTS: Final = {"linux", "host", "ext-container", "k8s-kind", "generic_vm"}
SWITCHES: Final = {"bridge", "ovs-bridge"}
"""Kinds of nodes; every other one is a router of some maker."""
ROUTES: Final = ("frr", "bird", "quagga", "gobgp", "vyos", "openbgpd")
"""What is in the name of an image that is a router."""
OUTSIDE: Final = {"host", "mgmt-net", "macvlan"}
"""Names of ends that are outside of the network."""
KEPT: Final = {"kind", "image", "exec", "group"}
NAMELESS: Final = {"labels", "mgmt-ipv4", "mgmt-ipv6", "mgmt_ipv4", "mgmt_ipv6", "position"}
"""Keys that change nothing in the network."""


def scenario(text: str, name: str) -> tuple[str, list[str]]:
    """The scenario that the text of a topology file makes, and the notes that stand in it.

    Raises:
        InputError: it is no such file, or its names cannot be kept.
    """
    found, notes = _parsed(text), Notes()
    topology = _table(found, "topology")
    nodes = {checked(str(node), ()): _node(topology, one, notes) for node, one in _table(topology, "nodes").items()}
    if found.get("mgmt"):
        notes.add("the management network is left out")
    links = [made for one in _list(topology, "links") if (made := _link(one, nodes, notes))]
    return network.text(name, "containerlab", nodes, links, notes)


def _parsed(text: str) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError("no file of containerlab", f"not YAML: {error}", "choose a .clab.yml file") from None
    if not isinstance(found, dict) or not isinstance(found.get("topology"), dict):
        raise InputError("no file of containerlab", "it has no table topology", "choose a .clab.yml file")
    return found


def _table(found: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = found.get(key) or {}
    if not isinstance(value, dict):
        raise InputError("no file of containerlab", f"{key} is no table", "choose a .clab.yml file")
    return value


def _list(found: Mapping[str, Any], key: str) -> list[Any]:
    value = found.get(key) or []
    if not isinstance(value, list):
        raise InputError("no file of containerlab", f"{key} is no list", "choose a .clab.yml file")
    return value


def _node(topology: Mapping[str, Any], own: Any, notes: Notes) -> Node:
    """A node by its own keys, those of its group and kind, and those of all nodes."""
    own = own if isinstance(own, dict) else {}
    defaults, groups, kinds = (_table(topology, key) for key in ("defaults", "groups", "kinds"))
    group = groups.get(str(own.get("group") or defaults.get("group"))) or {}
    kind = str(own.get("kind") or group.get("kind") or defaults.get("kind") or "linux")
    levels = (defaults, kinds.get(kind) or {}, group, own)
    keys = {key: value for level in levels for key, value in level.items()}
    lines = [str(line) for level in levels for line in _list(level, "exec")]
    done, image = settings(lines), str(keys.get("image") or "")
    made = Node("switch" if kind in SWITCHES else "host" if kind in HOSTS else "router", done)
    if made.kind == "host" and (done.forwards or any(word in image for word in ROUTES)):
        made.kind = "router"
    if image:
        made.comments.append(f"containerlab has the image {image}")
        notes.add("images are left out: programs are those of this machine")
    if made.kind == "router":
        notes.add("routers have shortest paths until `routing` names their protocols")
    if made.kind == "switch":
        done.routes.clear()
    for key in keys.keys() - KEPT - NAMELESS:
        made.comments.append(f"containerlab has {key} = {keys[key]}")
        notes.add(f"the key {key} of nodes is left out")
    made.comments.sort()
    return made


def _link(link: Any, nodes: Mapping[str, Node], notes: Notes) -> tuple[End, End] | None:
    """A link of either form; `None` if it leads out of the network."""
    given = link.get("endpoints") if isinstance(link, dict) else None
    if not isinstance(given, list) or len(given) != 2:
        if isinstance(link, dict) and ("endpoint" in link or link.get("type") not in (None, "veth")):
            notes.add("links that lead out of the network are left out: a lab is closed")
            return None
        raise InputError("a link has no two endpoints", f"found: {link}", 'write endpoints: ["a:eth1", "b:eth1"]')
    addresses = [link.get(version) or ("", "") for version in ("ipv4", "ipv6")]
    ends = []
    for number, end in enumerate(given):
        text = f"{end.get('node')}:{end.get('interface')}" if isinstance(end, dict) else str(end)
        node, _, interface = text.partition(":")
        if node in OUTSIDE and node not in nodes:
            notes.add("links that lead out of the network are left out: a lab is closed")
            return None
        if node not in nodes:
            raise InputError(f"a link leads to {node!r}", "the file has no node of this name", "correct its endpoints")
        own = [end.get("ipv4"), end.get("ipv6")] if isinstance(end, dict) else [one[number] for one in addresses]
        held = nodes[node].settings.addresses.setdefault(interface, [])
        held += [address for address in map(str, filter(None, own)) if address not in held]
        if not held:
            del nodes[node].settings.addresses[interface]
        if isinstance(end, dict) and end.get("mac"):
            notes.add("MAC addresses are left out: they are assigned")
        ends.append((node, interface))
    for key in link.keys() - {"endpoints", "type", "ipv4", "ipv6", "labels", "vars"}:
        notes.add(f"the key {key} of links is left out")
    return ends[0], ends[1]
