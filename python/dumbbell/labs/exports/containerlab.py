"""A network as a topology of containerlab (`NAME.clab.yml`).

Nodes are containers of Linux; commands give them addresses, routes, bridges, and netem and tbf at their interfaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.labs.exports.links import FRAME_BYTES, delay_and_jitter, loss_percent, note_rest, time
from dumbbell.labs.network import Network

IMAGE: Final = "ghcr.io/srl-labs/network-multitool"
"""A container with the tools of iproute2."""
TICK_S: Final = 0.004
"""A token bucket holds what its rate sends in so many seconds at least: kernels refill it at their timer's ticks."""


def containerlab(plan: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The file of the network in a plan, and a sentence for each kind of thing that it cannot say.

    Args:
        plan: as in plan.json.
    """
    network, notes = Network(dict(plan)), dict[str, None]()
    if plan["flows"] or plan["events"]:
        notes["flows and events are left out"] = None
    links = {link["name"]: link for link in plan["links"]}
    leaving: dict[str, list[tuple[str, Mapping[str, Any]]]] = {name: [] for name in network.nodes}
    for cable in network.cables:
        for link in (links[name] for name in cable.links):
            port = cable.interfaces[cable.ends.index(link["from"])]
            leaving[link["from"]].append((_port(port), link))
    lines = [
        f"name: {json.dumps(plan['name'])}",
        "topology:",
        "  kinds:",
        f"    linux: {{ image: {IMAGE} }}",
        "  nodes:",
    ]
    for name in network.nodes:
        lines += [f"    {json.dumps(name)}:", "      kind: linux"]
        commands = [*_commands(network, name, notes)]
        commands += [line for port, link in leaving[name] for line in _shaping(port, link, notes)]
        if commands:
            lines += ["      exec:", *(f"        - {json.dumps(command)}" for command in commands)]
    lines.append("  links:")
    for cable in network.cables:
        ends = [f"{node}:{_port(interface)}" for node, interface in cable.places]
        mtus = (_mtu(network, node, interface) for node, interface in cable.places)
        lines.append(f"    - endpoints: {json.dumps(ends)}")
        lines.append(f"      mtu: {next(filter(None, mtus), plan.get('mtu', 1500))}")
    return "\n".join([*lines, ""]), list(notes)


def _port(interface: str) -> str:
    """An interface's name there: eth0 belongs to containerlab's own network."""
    number = interface.removeprefix("eth")
    return f"eth{int(number) + 1}" if interface != number and number.isdigit() else interface


def _mtu(network: Network, node: str, interface: str) -> int | None:
    ports = network.planned[node].get("interfaces") or []
    return next((port.get("mtu") for port in ports if port["name"] == interface), None)


def _commands(network: Network, name: str, notes: dict[str, None]) -> Iterator[str]:
    """The commands that make a node what the plan says."""
    node, kind = network.planned[name], network.kind(name)
    ports = [_port(end[1]) for cable in network.cables for end in cable.places if end[0] == name]
    if kind in ("switch", "bridge"):
        yield "ip link add br0 type bridge" + (" stp_state 1" if kind == "bridge" and node.get("stp") else "")
        for port in ports:
            yield f"ip link set {port} master br0"
        yield "ip link set br0 up"
        if any(port.get("vlans") for port in node.get("interfaces") or ()):
            notes["VLANs of bridges are left out"] = None
        return
    if kind == "router":
        yield "sysctl -w net.ipv4.ip_forward=1"
        if any(":" in address for _, held in network.interfaces(name) for address in held):
            yield "sysctl -w net.ipv6.conf.all.forwarding=1"
        if not any(
            str(node["address"]) == one.partition("/")[0] for _, held in network.interfaces(name) for one in held
        ):
            yield f"ip addr add {node['address']}/32 dev lo"
        if node.get("routing"):
            notes["routing daemons are left out: routers have the routes of the scenario alone"] = None
    for interface, held in network.interfaces(name):
        for address in held:
            # Hosts of a core network stand alone on their subnets; here they are on one.
            yield f"ip addr add {address if '/' in address else address + '/8'} dev {_port(interface)}"
    for route in node.get("routes") or ():
        to = "default" if route["to"] in ("0.0.0.0/0", "::/0") else route["to"]
        version = "-6 " if ":" in route["via"][0] else ""
        if len(route["via"]) > 1:
            notes["of several next hops a route has the first one"] = None
        yield f"ip {version}route replace {to} via {route['via'][0]}"


def _shaping(port: str, link: Mapping[str, Any], notes: dict[str, None]) -> Iterator[str]:
    """The commands of tc for what leaves an interface: netem delays and loses, tbf below it has rate and buffer."""
    note_rest(link, notes, "which netem and tbf do not say alike: it is left out")
    delay, rate = _netem(link, notes), link["rate_bps"]
    parent = "root"
    if delay:
        yield f"tc qdisc add dev {port} root handle 1: netem {delay}"
        parent = "parent 1:"
    if rate is not None:
        burst = max(2 * FRAME_BYTES, round(rate * TICK_S / 8))
        buffer = link["buffer"]
        held = buffer["bytes"] if "bytes" in buffer else buffer.get("packets", 0) * FRAME_BYTES
        if "packets" in buffer:
            notes["buffers in packets are as many times 1514 bytes"] = None
        yield f"tc qdisc add dev {port} {parent} handle 2: tbf rate {rate}bit burst {burst} limit {max(held, burst)}"


def _netem(link: Mapping[str, Any], notes: dict[str, None]) -> str:
    words = []
    left_out = "jitter is left out: only one that is uniform and reorders is the same in netem"
    delay_ns, jitter_ns = delay_and_jitter(link, notes, left_out)
    if delay_ns:
        words.append(f"delay {time(delay_ns, notes)}" + (f" {time(jitter_ns, notes)}" if jitter_ns else ""))
    loss = loss_percent(link, notes, "losses are left out: only independent ones are the same in netem")
    if loss is not None:
        words.append(f"loss {loss:g}%")
    # Netem holds 1,000 packets by itself, and delays them within that.
    return " ".join([*words, "limit 1000000"]) if words else ""
