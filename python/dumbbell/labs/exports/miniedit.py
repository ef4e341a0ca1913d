"""A network as a file of MiniEdit (`.mn`), Mininet's editor: version 2 of its format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from dumbbell.labs.exports.links import buffer_packets, delay_and_jitter, loss_percent, note_rest, time
from dumbbell.labs.network import Cable, Network

IP_BASE: Final = "10.0.0.0/8"


def miniedit(plan: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The file of the network in a plan, and a sentence for each kind of thing that it cannot say.

    Args:
        plan: as in plan.json.
    """
    network, notes = Network(dict(plan)), dict[str, None]()
    if plan["flows"] or plan["events"]:
        notes["flows and events are left out"] = None
    hosts = [_host(network, name, number, plan) for number, name in enumerate(network.hosts, 1)]
    others = [name for name in network.nodes if network.kind(name) != "host"]
    switches = [_switch(network, name, number, notes) for number, name in enumerate(others, 1)]
    links = {link["name"]: link for link in plan["links"]}
    joined: set[frozenset[str]] = set()
    drawn = []
    for cable in network.cables:
        if frozenset(cable.ends) in joined:
            notes["MiniEdit has one link between two nodes: further ones are left out"] = None
            continue
        joined.add(frozenset(cable.ends))
        drawn.append(_link(cable, links, notes))
    found = {
        "application": {"dpctl": "", "ipBase": IP_BASE, "startCLI": "0", "switchType": "ovs", "terminalType": "xterm"},
        "controllers": [],
        "hosts": hosts,
        "links": drawn,
        "switches": switches,
        "version": "2",
    }
    return json.dumps(found, indent=4, sort_keys=True) + "\n", list(notes)


def _at(number: int, row: int) -> dict[str, str]:
    """A place on MiniEdit's canvas: rows of ten."""
    line, column = divmod(number - 1, 10)
    return {"x": f"{80 + 90 * column}.0", "y": f"{80 + 200 * row + 60 * line}.0"}


def _host(network: Network, name: str, number: int, plan: Mapping[str, Any]) -> dict[str, object]:
    options: dict[str, object] = {"hostname": name, "nodeNum": number, "sched": "host"}
    (_, held), *_ = network.interfaces(name)
    address = next((one for one in held if ":" not in one), "")
    # Hosts of a core network stand alone on their subnets; Mininet has them on one.
    options["ip"] = address if "/" in address else f"{address}/{IP_BASE.partition('/')[2]}"
    node = next(node for node in plan["nodes"] if node["name"] == name)
    default = next((route for route in node.get("routes") or () if route["to"] == "0.0.0.0/0"), None)
    if default:
        options["defaultRoute"] = default["via"][0]
    return {"number": str(number), **_at(number, 1), "opts": options}


def _switch(network: Network, name: str, number: int, notes: dict[str, None]) -> dict[str, object]:
    kind = "legacySwitch"
    if network.kind(name) == "router":
        kind = "legacyRouter"
        notes["MiniEdit has no addresses, routes and protocols of routers: they are left out"] = None
    options = {"controllers": [], "hostname": name, "nodeNum": number, "switchType": kind}
    return {"number": str(number), **_at(number, 0), "opts": options}


def _link(cable: Cable, links: Mapping[str, Mapping[str, Any]], notes: dict[str, None]) -> dict[str, object]:
    there, *back = (links[name] for name in cable.links)
    own = _values(there)
    if any(_values(one) != own for one in back):
        notes["links whose directions differ have the values of the first one"] = None
    return {"src": cable.ends[0], "dest": cable.ends[1], "opts": _options(there, notes)}


def _values(link: Mapping[str, Any]) -> dict[str, object]:
    names = ("name", "from", "to", "from_interface", "to_interface")
    return {key: value for key, value in link.items() if key not in names}


def _options(link: Mapping[str, Any], notes: dict[str, None]) -> dict[str, object]:
    """MiniEdit's options of a link."""
    options: dict[str, object] = {}
    note_rest(link, notes, "which MiniEdit lacks")
    if link["rate_bps"] is not None:
        options["bw"] = _number(link["rate_bps"] / 1e6, notes)
        buffer = link["buffer"]
        if "packets" in buffer:
            options["max_queue_size"] = buffer["packets"]
        elif "bytes" in buffer:
            options["max_queue_size"] = buffer_packets(buffer["bytes"])
            notes["buffers in bytes are as many packets of 1514 bytes"] = None
    left_out = "jitter is left out: MiniEdit's only jitter is uniform and reorders"
    delay_ns, jitter_ns = delay_and_jitter(link, notes, left_out)
    if jitter_ns:
        options["jitter"] = time(jitter_ns, notes)
    if delay_ns:
        options["delay"] = time(delay_ns, notes)
    loss = loss_percent(link, notes, "losses are left out: MiniEdit has only independent ones")
    if loss is not None:
        options["loss"] = _number(loss, notes)
    return options


def _number(value: float, notes: dict[str, None]) -> int | float:
    if value == int(value):
        return int(value)
    notes["bandwidths or losses have fractions, which MiniEdit's dialogs do not take"] = None
    return value
