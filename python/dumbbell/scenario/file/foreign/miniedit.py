"""Files of MiniEdit (`.mn`), Mininet's editor, as scenarios.

The format is JSON as MiniEdit 2.2 writes it. What a scenario cannot say becomes a comment: nothing is dropped in
silence, and no command of such a file is ever run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign import network
from dumbbell.scenario.file.foreign.joined import joined_at
from dumbbell.scenario.file.foreign.mended import mended
from dumbbell.scenario.file.foreign.network import End, Link, Node
from dumbbell.scenario.file.foreign.notes import Notes, checked, one_line
from dumbbell.scenario.file.foreign.shaping import Shaping, delayed, time

IP_BASE: Final = "10.0.0.0/8"
_POOLS: Final = ("[topology.pools]", 'lan = "172.16.0.0/16"', 'link = "172.17.0.0/16"')
"""Addresses beside those of `IP_BASE`."""
QUEUE_PACKETS: Final = 1000
"""The room in the queue of a link with a rate, if the file does not say."""


def scenario(text: str, name: str) -> tuple[str, list[str]]:
    """The scenario that a `.mn` file's text makes.

    Args:
        text: the file.
        name: the scenario's name.

    Returns:
        The scenario as TOML with comments, and the notes that stand in it.

    Raises:
        InputError: it is no such file, or its names collide.
    """
    found, notes = _parsed(text), Notes()
    nodes = _nodes(found, notes)
    links = _links(found, nodes, notes)
    pools = _POOLS if _part(nodes, links, notes) else ()
    controllers = found.get("controllers")
    # Version 1 has an object of them.
    for _ in controllers if isinstance(controllers, list | dict) else ():
        notes.add("controllers are left out: switches learn by themselves")
    return network.text(name, "MiniEdit", nodes, mended(nodes, links, notes), notes, pools)


def _parsed(text: str) -> dict[str, object]:
    if not text.strip():
        why = "MiniEdit leaves such a file when it cannot save a network, and the network is lost"
        raise InputError("the file is empty", why, "draw the network again")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError("not a MiniEdit file", f"not JSON: {error}", "a .mn file is JSON") from None
    except RecursionError:
        raise InputError("not a MiniEdit file", "nested too deeply", "choose a file that MiniEdit saved") from None
    if not isinstance(found, dict) or ("hosts" not in found and "switches" not in found):
        raise InputError(
            "not a MiniEdit file", "it has neither hosts nor switches", "choose a file that MiniEdit saved"
        )
    return found


def _list(table: Mapping[str, Any], key: str) -> list[dict[str, object]]:
    value = table.get(key) or []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError("not a MiniEdit file", f"{key} is not a list of objects", "choose a file that MiniEdit saved")
    return value


def _nodes(table: Mapping[str, Any], notes: Notes) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    routed = any(_options(one).get("switchType") == "legacyRouter" for one in _list(table, "switches"))
    base = _base(table)
    for kind, letter in (("hosts", "h"), ("switches", "s")):
        for one in _list(table, kind):
            options = _options(one)
            node = checked(str(options.get("hostname") or f"{letter}{one.get('number', '')}"), nodes)
            nodes[node] = _host(one, options, base, routed, notes) if kind == "hosts" else _switch(options, notes)
    return nodes


def _part(nodes: Mapping[str, Node], links: Sequence[Link], notes: Notes) -> bool:
    """Keep segments of a network apart: true if some need subnets outside of `IP_BASE`.

    Mininet gives a host's further interfaces no address; here each has one. So where a host joins two segments of one
    subnet, the second one gets a subnet of its own: its hosts lose their addresses.
    """
    segments, firsts = _segments(nodes, links), dict[str, int]()
    several: dict[str, list[int]] = {}
    for (name, _), segment in segments.items():
        firsts.setdefault(name, segment)
        several.setdefault(name, []).append(segment)
    parted = {segment for name, own in several.items() if "address" in nodes[name].keys for segment in own[1:]}
    parted -= {several[name][0] for name, own in several.items() if len(own) > 1}
    for name, segment in firsts.items():
        if segment in parted and "address" in nodes[name].keys:
            nodes[name].comments.append(f"MiniEdit has address = {nodes[name].keys.pop('address')}")
            notes.add("a host joins two segments, so those of the second have a subnet of their own")
    return bool(parted)


def _segments(nodes: Mapping[str, Node], links: Sequence[Link]) -> dict[tuple[str, int], int]:
    """A host and the number of its link -> the segment that the link is in: switches join their links."""
    parts = joined_at([link.pair for link in links], {name for name, one in nodes.items() if one.kind == "switch"})
    return {
        (end, number): parts.root(number)
        for number, link in enumerate(links)
        for end, _ in link.ends
        if nodes[end].kind == "host"
    }


def _options(item: Mapping[str, Any]) -> dict[str, object]:
    options = item.get("opts")
    return options if isinstance(options, dict) else {}


def _base(table: Mapping[str, Any]) -> IPv4Network:
    application = table.get("application")
    text = application.get("ipBase", IP_BASE) if isinstance(application, dict) else IP_BASE
    try:
        return IPv4Network(str(text), strict=False)
    except ValueError as error:
        raise InputError(f"application.ipBase = {text!r}", str(error), f"write {IP_BASE}") from None


def _host(item: Mapping[str, Any], options: Mapping[str, Any], base: IPv4Network, routed: bool, notes: Notes) -> Node:
    made = Node("host")
    keys, comments = made.keys, made.comments
    given = str(options.get("ip") or "")
    number = options.get("nodeNum", item.get("number", 0))
    try:
        if given:
            address = IPv4Interface(given if "/" in given else f"{given}/{base.prefixlen}")
            keys["address"] = f'"{address}"'
        elif not routed:
            keys["address"] = f'"{base.network_address + _count(number)}/{base.prefixlen}"'
        else:
            notes.add("hosts beside routers have addresses of their subnets: MiniEdit gives all of them one subnet")
    except ValueError as error:
        raise InputError(f"a host's address {given!r}", str(error), "write an address such as 10.0.0.1/8") from None
    if options.get("defaultRoute"):
        route = str(options["defaultRoute"]).strip().removeprefix("via ").strip()
        try:
            made.settings.routes.append(f"default via {IPv4Address(route)}")
        except ValueError:
            comments.append(f"MiniEdit has defaultRoute = {one_line(options['defaultRoute'])}")
            notes.add("default routes that are no address are left out")
    for key, what in (("startCommand", "at the start"), ("stopCommand", "at the end")):
        if options.get(key):
            comments.append(f"MiniEdit runs {what}: {one_line(options[key])}")
            notes.add("commands of hosts stand in comments, and are not run")
    for key, what in (
        ("vlanInterfaces", "VLAN interfaces are left out"),
        ("externalInterfaces", "external interfaces are left out: a lab is closed"),
        ("privateDirectory", "private directories are left out"),
        ("cpu", "shares of a CPU are left out"),
        ("cores", "choices of CPU cores are left out"),
    ):
        if options.get(key):
            comments.append(f"MiniEdit has {key} = {one_line(options[key])}")
            notes.add(what)
    return made


def _switch(options: Mapping[str, Any], notes: Notes) -> Node:
    comments: list[str] = []
    kind = options.get("switchType", "default")
    if kind == "legacyRouter":
        comments.append(
            "MiniEdit gives a router no addresses: its subnets have some of the pools, its routes are shortest paths "
            "until `routing` names protocols"
        )
    elif kind not in ("legacySwitch", "default"):
        notes.add("kinds of OpenFlow switches are all learning switches")
    for key, what in (("startCommand", "at the start"), ("stopCommand", "at the end")):
        if options.get(key):
            comments.append(f"MiniEdit runs {what}: {one_line(options[key])}")
            notes.add("commands of switches stand in comments, and are not run")
    if any(options.get(key) not in (None, "", "0") for key in ("netflow", "sflow")):
        notes.add("NetFlow and sFlow are left out")
    if options.get("externalInterfaces"):
        notes.add("external interfaces are left out: a lab is closed")
    return Node("router" if kind == "legacyRouter" else "switch", comments=comments)


def _links(table: Mapping[str, Any], nodes: Mapping[str, Node], notes: Notes) -> list[Link]:
    """The links, whose keys are those of what leaves the interfaces at both ends."""
    counts: Counter[str] = Counter()
    links = []
    for link in _list(table, "links"):
        keys, ends = _keys(_options(link), notes), list[End]()
        for name in (str(link.get(end, "")) for end in ("src", "dest")):
            if name not in nodes:
                why = "the file has no node of this name"
                raise InputError(f"a link leads to {name!r}", why, "correct src or dest")
            interface = f"{name}-eth{counts[name]}"
            counts[name] += 1
            ends.append((name, interface))
            if keys:
                nodes[name].settings.shaping[interface] = dict(keys)
        links.append(Link((ends[0], ends[1])))
    return links


def _keys(options: Mapping[str, Any], notes: Notes) -> Shaping:
    """The keys of a link in each direction."""
    keys: Shaping = {}
    if options.get("bw"):
        packets = options.get("max_queue_size") or QUEUE_PACKETS
        keys["rate"] = f'"{_number(options["bw"], "bw")} Mbit/s"'
        keys["buffer"] = f'"{_number(packets, "max_queue_size")} packets"'
    elif options.get("max_queue_size"):
        notes.add("queue sizes of links without bandwidth are left out: nothing waits there")
    delay, jitter = (_time(options[key], notes) if options.get(key) else 0 for key in ("delay", "jitter"))
    if delay or jitter:
        keys |= delayed(delay, jitter)
    if options.get("loss"):
        keys["loss"] = f'"{_number(options["loss"], "loss")} %"'
    if options.get("speedup"):
        notes.add("speedup of links is left out")
    return keys


def _count(value: object) -> int:
    """A number that MiniEdit counts with. Raises `ValueError`."""
    try:
        return int(str(value))
    except ValueError:
        raise ValueError(f"nodeNum is {value!r}, not a number") from None


def _number(value: object, key: str) -> str:
    text = str(value).strip()
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise InputError(f"a link has {key} = {value!r}", "no number", "correct it in the file")
    return text.removesuffix(".0")


def _time(value: object, notes: Notes) -> int:
    """Nanoseconds."""
    text = str(value).strip()
    try:
        found = time(text)
    except ValueError:
        what = f"a link has a delay of {value!r}"
        raise InputError(what, "not a time, such as 10ms", "correct it in the file") from None
    if not text.endswith("s"):
        notes.add("delays without a unit are microseconds, as tc reads them")
    return found
