"""Files of MiniEdit (`.mn`), Mininet's editor, as scenarios.

The format is JSON as MiniEdit 2.2 writes it. What a scenario cannot say becomes a comment: nothing is dropped in
silence, and no command of such a file is ever run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign.notes import Notes, checked, one_line

IP_BASE: Final = "10.0.0.0/8"
QUEUE_PACKETS: Final = 1000
"""The room in the queue of a link with a rate, if the file does not say."""
_TIME: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(us|usecs?|ms|msecs?|s|secs?)?", re.ASCII)
_NANOSECONDS: Final = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


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
    lines = ['kind = "graph"', "", "[topology.nodes]"]
    for node, (said, comments) in nodes.items():
        lines += [f"# {comment}" for comment in comments]
        lines.append(f"{node} = {said}")
    for link in _list(found, "links"):
        lines += ["", *_link(link, nodes, notes)]
    controllers = found.get("controllers")
    # Version 1 has an object of them.
    for _ in controllers if isinstance(controllers, list | dict) else ():
        notes.add("controllers are left out: switches learn by themselves")
    head = [f'name = "{name}"', "# Imported from MiniEdit. A run needs a duration and [[flows]], too."]
    head += [f"# Note: {note}." for note in notes]
    return "\n".join([*head, "", "[topology]", *lines, ""]), list(notes)


def _parsed(text: str) -> dict[str, Any]:
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


def _list(found: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = found.get(key) or []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError("not a MiniEdit file", f"{key} is not a list of objects", "choose a file that MiniEdit saved")
    return value


def _nodes(found: Mapping[str, Any], notes: Notes) -> dict[str, tuple[str, list[str]]]:
    """By name: the node as an inline table, and comments above it."""
    nodes: dict[str, tuple[str, list[str]]] = {}
    routed = any(_options(one).get("switchType") == "legacyRouter" for one in _list(found, "switches"))
    base = _base(found)
    for kind, letter in (("hosts", "h"), ("switches", "s")):
        for one in _list(found, kind):
            options = _options(one)
            node = checked(str(options.get("hostname") or f"{letter}{one.get('number', '')}"), nodes)
            if kind == "hosts":
                nodes[node] = _host(one, options, base, routed, notes)
            else:
                nodes[node] = _switch(node, options, notes)
    return nodes


def _options(one: Mapping[str, Any]) -> dict[str, Any]:
    options = one.get("opts")
    return options if isinstance(options, dict) else {}


def _base(found: Mapping[str, Any]) -> IPv4Network:
    application = found.get("application")
    text = application.get("ipBase", IP_BASE) if isinstance(application, dict) else IP_BASE
    try:
        return IPv4Network(str(text), strict=False)
    except ValueError as error:
        raise InputError(f"application.ipBase = {text!r}", str(error), f"write {IP_BASE}") from None


def _host(
    one: Mapping[str, Any], options: Mapping[str, Any], base: IPv4Network, routed: bool, notes: Notes
) -> tuple[str, list[str]]:
    keys, comments = [], []
    given = str(options.get("ip") or "")
    number = options.get("nodeNum", one.get("number", 0))
    try:
        if given:
            address = IPv4Interface(given if "/" in given else f"{given}/{base.prefixlen}")
            keys.append(f'address = "{address}"')
        elif not routed:
            keys.append(f'address = "{base.network_address + _count(number)}/{base.prefixlen}"')
        else:
            notes.add("hosts beside routers have addresses of their subnets: MiniEdit gives all of them one subnet")
    except ValueError as error:
        raise InputError(f"a host's address {given!r}", str(error), "write an address such as 10.0.0.1/8") from None
    if options.get("defaultRoute"):
        route = str(options["defaultRoute"]).strip().removeprefix("via ").strip()
        try:
            keys.append(f'routes = ["default via {IPv4Address(route)}"]')
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
    return f"{{ {', '.join(keys)} }}" if keys else "{}", comments


def _switch(node: str, options: Mapping[str, Any], notes: Notes) -> tuple[str, list[str]]:
    comments = []
    kind = options.get("switchType", "default")
    if kind == "legacyRouter":
        comments.append(
            "MiniEdit gives a router no addresses: its subnets have some of the pools, its routes are shortest paths"
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
    return '{ kind = "router" }' if kind == "legacyRouter" else '{ kind = "switch" }', comments


def _link(link: Mapping[str, Any], nodes: Mapping[str, Any], notes: Notes) -> list[str]:
    ends = [str(link.get(end, "")) for end in ("src", "dest")]
    for end in ends:
        if end not in nodes:
            raise InputError(f"a link leads to {end!r}", "the file has no node of this name", "correct src or dest")
    options = _options(link)
    lines = ["[[topology.links]]", f'between = ["{ends[0]}", "{ends[1]}"]']
    if options.get("bw"):
        packets = options.get("max_queue_size") or QUEUE_PACKETS
        lines += [
            f'rate = "{_number(options["bw"], "bw")} Mbit/s"',
            f'buffer = "{_number(packets, "max_queue_size")} packets"',
        ]
    elif options.get("max_queue_size"):
        notes.add("queue sizes of links without bandwidth are left out: nothing waits there")
    delay, jitter = (_time(options[key], notes) if options.get(key) else 0 for key in ("delay", "jitter"))
    # Not all keys of a direction are those of the other one, too.
    both: list[str] = []
    if jitter:
        # netem draws from delay - jitter to delay + jitter.
        least = max(delay - jitter, 0)
        lines.append(f'delay = "{_shortest(least)}"')
        both += [f'jitter = "{_shortest(delay + jitter - least)}"', "reordering = true"]
    elif delay:
        lines.append(f'delay = "{_shortest(delay)}"')
    if options.get("loss"):
        both.append(f'loss = "{_number(options["loss"], "loss")} %"')
    if both:
        lines += [*both, f"reverse = {{ {', '.join(both)} }}"]
    if options.get("speedup"):
        notes.add("speedup of links is left out")
    return lines


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
    match = _TIME.fullmatch(str(value).strip())
    if match is None:
        raise InputError(f"a link has a delay of {value!r}", "not a time, such as 10ms", "correct it in the file")
    if not match[2]:
        notes.add("delays without a unit are microseconds, as tc reads them")
    unit = next(unit for unit in ("us", "ms", "s") if (match[2] or "us").startswith(unit))
    return round(float(match[1]) * _NANOSECONDS[unit])


def _shortest(ns: int) -> str:
    for unit in ("s", "ms", "us"):
        if ns % _NANOSECONDS[unit] == 0:
            return f"{ns // _NANOSECONDS[unit]} {unit}"
    return f"{ns} ns"
