"""Imported networks as scenarios that plan: what a plan refuses is left out, and noted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_interface
from itertools import chain
from pathlib import Path
from typing import Any, Final

from dumbbell.core import core
from dumbbell.engines.realm.routing import check_routers
from dumbbell.errors import Problem, RunFailed, ScenarioError
from dumbbell.labs.build import of_draft
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.foreign.joined import joined_at
from dumbbell.scenario.file.foreign.notes import one_line
from dumbbell.scenario.file.loading import Draft
from dumbbell.scenario.file.toml import parse
from dumbbell.scenario.source import Key, lookup, show

_SUBNET: Final = re.compile(r"(?<!\S)(\S++) is too small for |its subnet, (\S+), overlaps with ")
_SAME: Final = re.compile(r"(?<!\S)(\S++) and (\S++) have the same address, (\S+)$")
_POOLS: Final = {
    "lan": [f"172.{number}.0.0/16" for number in range(16, 20)],
    "link": [f"172.{number}.0.0/16" for number in range(20, 24)],
    "loopback": [f"172.{number}.0.0/16" for number in range(24, 28)],
    "ipv6": [f"fd{number:02x}::/48" for number in range(1, 5)],
}
"""Prefixes that files seldom use, for each pool of addresses."""
_NAMED: Final = 3
"""Parts of the key of a node or of a link: `topology.nodes.h1`, `topology.links.0`."""


_DAEMONS: Final = ["bgp", "ospf", "rip"]
"""Protocols whose daemons a router has that waits for its configuration."""


def unconfigured(text: str) -> list[str]:
    """Names of a scenario's routers that have neither a protocol nor routes."""
    nodes = parse(text)["topology"].get("nodes", {})
    return [
        name
        for name, node in nodes.items()
        if node.get("kind") == "router" and not node.keys() & {"routing", "frr", "routes"}
    ]


def with_daemons(text: str) -> str:
    """A scenario whose unconfigured routers run FRRouting's daemons, which wait for a configuration."""
    operations = [
        {"do": "set", "key": ("topology", "nodes", name, key), "value": value}
        for name in unconfigured(text)
        for key, value in (("routing", _DAEMONS), ("bare", True))
    ]
    return core.edit_toml(text, json.dumps(operations))


def plannable(made: tuple[str, list[str]], folder: Path, *, asks_frr: bool = False) -> tuple[str, list[str]]:
    """Leave out of an imported network what the plan of a lab refuses.

    Args:
        made: the scenario's text, and the notes that stand in it.
        folder: in which the scenario's relative paths begin.
        asks_frr: FRR's shell on this machine checks configurations, as `lab up` does. False: nothing is started.

    Returns:
        The text, and all notes that stand in it.

    Raises:
        ScenarioError: the plan refuses the network itself.
    """
    text, notes = made
    while problems := _problems(text, folder, asks_frr):
        data, edits, told = parse(text), dict[Key, Any](), list[str]()
        for key, value, note in chain.from_iterable(_edits(data, _key(one.key), one.wrong) for one in problems):
            if lookup(data, key) != (len(key), value):
                edits[key] = value
                told.append(one_line(note))
        if not edits:
            raise ScenarioError(problems)
        # The last items of a list go first, as the others keep their indices then.
        in_turn = sorted(edits.items(), key=lambda edit: [part for part in edit[0] if isinstance(part, int)])
        operations = [
            {"do": "unset", "key": key} if value is None else {"do": "set", "key": key, "value": value}
            for key, value in reversed(in_turn)
        ]
        head, _, tables = core.edit_toml(text, json.dumps(operations)).partition("\n\n")
        told = [note for note in dict.fromkeys(told) if note not in notes]
        text = "\n".join([head, *(f"# Note: {note}." for note in told)]) + "\n\n" + tables
        notes = [*notes, *told]
    return text, notes


def _problems(text: str, folder: Path, asks_frr: bool) -> list[Problem]:
    try:
        scenario = of_draft(Draft("imported", text, parse(text), folder, {}))
        plan = expand(scenario)
        found = list(check_routers(scenario, plan)) if asks_frr else []
    except ScenarioError as error:
        return list(error.problems)
    except RunFailed:  # This machine's FRR cannot be asked.
        return []
    # A machine may lack daemons: then the lab says how to get them.
    return [one for one in found if one.key.endswith(".frr")]


def _key(dotted: str) -> Key:
    """The key that a problem names: nodes have names, all other numbers are indices."""
    parts = dotted.split(".")
    return tuple(
        int(part) if part.isdecimal() and parts[place - 1] != "nodes" else part for place, part in enumerate(parts)
    )


Edit = tuple[Key, object, str]
"""A key, its new value (`None`: it goes), and what a note says of it."""


def _edits(data: Mapping[str, Any], key: Key, wrong: str) -> Iterator[Edit]:
    """Yields the edits that mend a problem."""
    at, name = key[:_NAMED], key[_NAMED : _NAMED + 1]
    steps, held = lookup(data, at)
    if key[:2] == ("topology", "pools"):
        yield from _pool(data, key, wrong)
    elif match := _SAME.search(wrong):
        yield from _without_same(data, (match[1], match[2]), match[3])
    elif at[1:2] == ("links",) and (match := _SUBNET.search(wrong)):
        yield from _without_subnet(data, at[2], match[1] or match[2], wrong)
    elif steps < _NAMED or not name or name[0] not in held:
        return
    elif at[1] == "links" and name[0] == "addresses":
        yield _without_address(held, key, wrong)
    else:
        # A key of a direction, or one of several routes.
        deeper = _NAMED + (2 if name[0] in ("reverse", "routes") else 1)
        deeper = min(deeper, lookup(data, key)[0])
        value = lookup(data, key[:deeper])[1]
        of = f"the link {' - '.join(held['between'])}" if at[1] == "links" else str(at[2])
        what = "route" if name[0] == "routes" else ".".join(map(str, key[_NAMED:deeper]))
        yield key[:deeper], None, f"{what} = {show(value)} of {of} is left out: {wrong}"


def _pool(data: Mapping[str, Any], key: Key, wrong: str) -> Iterator[Edit]:
    """Another pool: the file's own addresses take all of this one."""
    every, now = _POOLS[str(key[-1])], data["topology"].get("pools", {}).get(key[-1])
    if others := every[every.index(now) + 1 if now in every else 0 :]:
        yield key, others[0], f"further addresses are those of {others[0]}: {wrong}"


def _without_same(data: Mapping[str, Any], names: tuple[str, str], address: str) -> Iterator[Edit]:
    """Leave out the id of a router, or else the addresses of links, that another node has, too."""
    note = f"{address} of {names[0]} is left out: {names[1]} has the same address"
    ids = [name for name in names if data["topology"]["nodes"].get(name, {}).get("id") == address]
    for name in ids[:1]:
        yield ("topology", "nodes", name, "id"), None, note
    for number, link in enumerate(data["topology"].get("links", ())):
        if not ids and any(f'"{address}/' in json.dumps(one) for one in link.get("addresses", ())):
            yield ("topology", "links", number, "addresses"), None, note


def _without_subnet(data: Mapping[str, Any], link: object, subnet: str, wrong: str) -> Iterator[Edit]:
    """Leave out all addresses of a subnet on a link, and on those that switches join to it."""
    nodes, links = data["topology"]["nodes"], data["topology"]["links"]
    parts = joined_at(
        [one["between"] for one in links], {name for name in nodes if nodes[name].get("kind") == "switch"}
    )
    own = {number for number in range(len(links)) if parts.root(number) == parts.root(int(str(link)))}

    def has(addresses: Any) -> bool:
        given = [addresses] if isinstance(addresses, str) else addresses
        return any(str(ip_interface(one).network) == subnet for one in given)

    note = f"addresses of {subnet} are left out: {wrong}"
    for number in sorted(own):
        ends = links[number].get("addresses", ())
        if any(map(has, ends)):
            left = [[] if has(one) else one for one in ends]
            yield ("topology", "links", number, "addresses"), left if any(left) else None, note
        for name in links[number]["between"]:
            first = next(place for place, one in enumerate(links) if name in one["between"])
            if first == number and has(nodes[name].get("address", ())):
                yield ("topology", "nodes", name, "address"), None, note


def _without_address(link: Mapping[str, Any], key: Key, wrong: str) -> Edit:
    """Leave out the addresses of the end that the problem names, or of both."""
    ends, held = link["between"], list(link["addresses"])
    node, _, why = wrong.partition(": ")
    index = key[_NAMED + 1] if len(key) > _NAMED + 1 else ends.index(node) if node in ends else None
    gone = [ends[end] for end in (0, 1) if index in (end, None)]
    left = [[] if index in (end, None) else held[end] for end in (0, 1)]
    note = f"addresses = {show(held)} of a link of {' and '.join(gone)} are left out: {why or wrong}"
    return key[: _NAMED + 1], left if any(left) else None, note
