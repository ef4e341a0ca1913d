"""Files of containerlab (`topology.clab.yml`) as scenarios.

A scenario has no containers: nodes become hosts, routers and switches, and what runs in their images is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_interface
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign import frr, network
from dumbbell.scenario.file.foreign.commands import settings
from dumbbell.scenario.file.foreign.frr import Files
from dumbbell.scenario.file.foreign.mended import mended
from dumbbell.scenario.file.foreign.network import Link, Node
from dumbbell.scenario.file.foreign.notes import LARGEST, Notes, Room, one_line
from dumbbell.scenario.topology.keys import LEAST, MOST

HOSTS: Final = {"linux", "host", "ext-container", "k8s-kind", "generic_vm"}
SWITCHES: Final = {"bridge", "ovs-bridge"}
"""Kinds of nodes; every other one is a router of some maker."""
ROUTES: Final = ("frr", "bird", "quagga", "gobgp", "vyos", "openbgpd")
"""Parts of the name of an image that is a router."""
OUTSIDE: Final = {"host", "mgmt-net", "macvlan"}
"""Names of ends that are outside of the network."""
KEPT: Final = {"kind", "image", "exec", "group"}
LONGEST_NUMBER: Final = 100
"""Characters of an integer."""
NAMELESS: Final = {"labels", "mgmt-ipv4", "mgmt-ipv6", "mgmt_ipv4", "mgmt_ipv6", "position"}
"""Keys that change nothing in the network."""


def scenario(text: str, name: str, files: Files = frr.none) -> tuple[str, list[str]]:
    """The scenario that the text of a topology file makes, and the notes that stand in it.

    Args:
        text: the file.
        name: the scenario's name.
        files: those beside the file.

    Raises:
        InputError: it is no such file, or its names cannot be kept.
    """
    found, notes, room = _parsed(text), Notes(), Room()
    topology = _table(found, "topology")
    nodes = {str(node): _node(topology, one, notes, room, files) for node, one in _table(topology, "nodes").items()}
    if found.get("mgmt"):
        notes.add("the management network is left out")
    if "links" in found:
        notes.add("links beside topology are not read: containerlab reads topology.links")
    links = [made for one in _list(topology, "links") if (made := _link(one, nodes, notes))]
    for node, one in nodes.items():
        network.bridge(one, {port for link in links for end, port in link.ends if end == node})
    return network.text(name, "containerlab", nodes, mended(nodes, links, notes, "mgmt"), notes)


def _parsed(text: str) -> dict[str, object]:
    import yaml

    if len(text) > LARGEST:
        raise InputError("the file is too large", f"it has more than {LARGEST:,} characters", "import a part of it")
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if _size(node, {}) > LARGEST:
            raise yaml.YAMLError(f"with its aliases written out it would have more than {LARGEST:,} characters")
        found = loader.construct_document(node) if node is not None else None
    # PyYAML lets errors of Python through at words that look like dates or numbers, or are tagged so, and are none.
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError) as error:
        raise InputError("not a containerlab file", f"not YAML: {error}", "choose a .clab.yml file") from None
    if not isinstance(found, dict) or not isinstance(found.get("topology"), dict):
        raise InputError("not a containerlab file", "it has no table topology", "choose a .clab.yml file")
    return found


def _size(node: Any, sizes: dict[int, int]) -> int:
    """The characters of a node of YAML, about, with aliases written out: each may stand for a text with further ones.

    Args:
        sizes: of the nodes that were met before, by identity. A node within itself is too large.

    Raises:
        InputError: a number is too long.
    """
    if id(node) not in sizes:
        sizes[id(node)] = LARGEST + 1
        value = getattr(node, "value", "")
        if isinstance(value, str):
            if node is not None and node.tag.endswith(":int") and len(value) > LONGEST_NUMBER:
                # PyYAML takes minutes for one of 200,000 parts to the base 60, and Python writes no such number.
                raise InputError("not a containerlab file", f"a number has {len(value):,} characters", "shorten it")
            sizes[id(node)] = 1 + len(value)
        else:
            parts = (part for item in value for part in (item if isinstance(item, tuple) else (item,)))
            sizes[id(node)] = 1 + sum(_size(part, sizes) for part in parts)
    return sizes[id(node)]


def _table(table: Mapping[str, object], key: str) -> dict[str, object]:
    value = table.get(key) or {}
    if not isinstance(value, dict):
        raise InputError("not a containerlab file", f"{key} is not a table", "choose a .clab.yml file")
    return value


def _list(table: Mapping[str, object], key: str) -> list[Any]:
    value = table.get(key) or []
    if not isinstance(value, list):
        raise InputError("not a containerlab file", f"{key} is not a list", "choose a .clab.yml file")
    return value


def _node(topology: Mapping[str, object], own: Any, notes: Notes, room: Room, files: Files) -> Node:
    """A node by its own keys, those of its group and kind, and those of all nodes."""
    own = own if isinstance(own, dict) else {}
    defaults, groups, kinds = (_table(topology, key) for key in ("defaults", "groups", "kinds"))
    group = _table(groups, str(own.get("group") or defaults.get("group")))
    kind = str(own.get("kind") or group.get("kind") or defaults.get("kind") or "linux")
    levels = (defaults, _table(kinds, kind), group, own)
    room.take(levels)
    keys = {key: value for level in levels for key, value in level.items()}
    lines = [str(line) for level in levels for line in _list(level, "exec")]
    done, image = settings(lines), str(keys.get("image") or "")
    made = Node("switch" if kind in SWITCHES else "host" if kind in HOSTS else "router", done)
    if made.kind == "host" and (done.forwards or any(word in image for word in ROUTES)):
        made.kind = "router"
    if image:
        made.comments.append(f"containerlab has the image {image}")
        notes.add("images are left out: programs are those of this machine")
    binds = [str(one).split(":") for level in levels for one in _list(level, "binds")]
    paths = [bind[0] for bind in binds if bind[1:2] == ["/etc/frr/frr.conf"]]
    paths += [f"{bind[0]}/frr.conf" for bind in binds if bind[1:2] == ["/etc/frr"]]
    configured = made.kind == "router" and any(frr.configure(made, path, files) for path in paths)
    if made.kind == "router" and not configured:
        notes.add("routers have shortest paths until `routing` names their protocols")
    if made.kind == "switch":
        done.routes.clear()
    for key in sorted(keys.keys() - KEPT - NAMELESS, key=str):
        made.comments.append(f"containerlab has {key} = {keys[key]}")
        notes.add(f"the key {key} of nodes is left out")
    made.comments.sort()
    return made


def _link(link: Any, nodes: Mapping[str, Node], notes: Notes) -> Link | None:
    """A link of either form; `None` if it leads out of the network."""
    given = link.get("endpoints") if isinstance(link, dict) else None
    if not isinstance(given, list) or len(given) != 2:
        if isinstance(link, dict) and ("endpoint" in link or link.get("type") not in (None, "veth")):
            notes.add("links that lead out of the network are left out: a lab is closed")
            return None
        raise InputError("a link has no two endpoints", f"found: {link}", 'write endpoints: ["a:eth1", "b:eth1"]')
    addresses = [_addresses(link, version) for version in ("ipv4", "ipv6")]
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
        held += [address for address in map(_address, filter(None, own)) if address not in held]
        if not held:
            del nodes[node].settings.addresses[interface]
        if isinstance(end, dict) and end.get("mac"):
            notes.add("MAC addresses are left out: they are assigned")
        ends.append((node, interface))
    mtu = link.get("mtu")
    if mtu is not None and not (isinstance(mtu, int) and LEAST <= mtu <= MOST):
        notes.add(f"the MTU {one_line(mtu)} is left out: links have {LEAST:,} to {MOST:,} B")
        mtu = None
    for key in sorted(link.keys() - {"endpoints", "type", "mtu", "ipv4", "ipv6", "labels", "vars"}, key=str):
        notes.add(f"the key {key} of links is left out")
    return Link((ends[0], ends[1]), mtu)


def _addresses(link: Mapping[str, object], version: str) -> list[Any]:
    """The addresses of a link's two ends."""
    found = _list(link, version) or ["", ""]
    if len(found) != 2:
        raise InputError(
            f"a link has {version} = {found}", "an address for each of its two ends", "correct it in the file"
        )
    return found


def _address(value: object) -> str:
    """An address with the length of its prefix."""
    text = str(value)
    try:
        ip_interface(text)
    except ValueError as error:
        raise InputError(f"a link has the address {text!r}", str(error), "write one such as 10.0.0.1/24") from None
    if "%" in text:
        raise InputError(f"a link has the address {text!r}", "a zone is this machine's", "write one such as fd00::1/64")
    return text
